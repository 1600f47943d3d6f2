// Package main asks a directory what go-ldap can ask, and prints a line for each check.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/go-ldap/ldap/v3"
)

var suffix, user, password = os.Getenv("SUFFIX"), os.Getenv("USER_DN"), os.Getenv("USER_PASSWORD")

func check(what string, good bool, details ...any) {
	if good {
		fmt.Println("ok", what)
	} else {
		fmt.Println("FAILED", what, fmt.Sprint(details...))
	}
}

func search(c *ldap.Conn, filter string, controls []ldap.Control, attributes ...string) (*ldap.SearchResult, error) {
	request := ldap.NewSearchRequest(suffix, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 0, 0, false, filter, attributes, controls)
	return c.Search(request)
}

func main() {
	c, err := ldap.DialURL(os.Getenv("URL"))
	if err != nil {
		fmt.Println("FAILED to connect", err)
		os.Exit(1)
	}
	defer c.Close()

	pem, _ := os.ReadFile(os.Getenv("CA"))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	err = c.StartTLS(&tls.Config{RootCAs: roots, ServerName: "localhost"})
	check("StartTLS", err == nil, err)
	state, is := c.TLSConnectionState()
	check("the connection is encrypted", is && state.HandshakeComplete)

	err = c.Bind(user, "wrong")
	check("a wrong password", ldap.IsErrorWithCode(err, ldap.LDAPResultInvalidCredentials), err)
	err = c.Bind(user, "")
	check("an empty password is refused by the client", err != nil)
	err = c.Bind(user, password)
	check("bind", err == nil, err)
	who, err := c.WhoAmI(nil)
	check("who am I", err == nil && who.AuthzID == "dn:"+user, who, err)

	found, err := search(c, "(uid=ada)", nil, "cn", "mail")
	check("search", err == nil && len(found.Entries) == 1 && found.Entries[0].GetAttributeValue("mail") != "", found, err)
	all, err := search(c, "(objectClass=*)", nil, "1.1")
	check("everything", err == nil && len(all.Entries) > 30, err)
	paged, err := c.SearchWithPaging(ldap.NewSearchRequest(suffix, ldap.ScopeWholeSubtree, 0, 0, 0, false, "(objectClass=*)", []string{"1.1"}, nil), 7)
	check("pages", err == nil && len(paged.Entries) == len(all.Entries), err)
	found, err = search(c, "(&(objectClass=person)(|(cn=*a*)(sn>=m))(!(uid=ada)))", nil, "sn")
	check("a filter of several parts", err == nil && len(found.Entries) > 0, err)
	_, err = search(c, "(undefinedAttribute=x)", nil)
	check("an undefined attribute finds nothing", err == nil, err)

	dn := "cn=Grüße+description=first\\, of two,ou=People," + suffix
	add := ldap.NewAddRequest(dn, nil)
	add.Attribute("objectClass", []string{"person"})
	add.Attribute("cn", []string{"Grüße", "second name"})
	add.Attribute("sn", []string{"Go, Client"})
	add.Attribute("userPassword", []string{"first secret"})
	err = c.Add(add)
	check("add", err == nil, err)
	check("add again", ldap.IsErrorWithCode(c.Add(add), ldap.LDAPResultEntryAlreadyExists))

	modify := ldap.NewModifyRequest(dn, nil)
	modify.Add("description", []string{"one", "two", "three"})
	modify.Delete("description", []string{"two"})
	modify.Replace("telephoneNumber", []string{"+1 555 0100"})
	err = c.Modify(modify)
	check("modify", err == nil, err)
	found, err = search(c, "(telephoneNumber=+1-555-0100)", nil, "description")
	check("what was modified", err == nil && len(found.Entries) == 1 && len(found.Entries[0].GetAttributeValues("description")) == 3, err)
	yes, err := c.Compare(dn, "sn", "GO, CLIENT")
	check("compare, true", err == nil && yes, err)
	yes, err = c.Compare(dn, "sn", "other")
	check("compare, false", err == nil && !yes, err)

	_, err = c.PasswordModify(ldap.NewPasswordModifyRequest(dn, "", "second secret"))
	check("password modify by somebody else is refused", err != nil)
	rename := ldap.NewModifyDNRequest(dn, "cn=renamed", true, "ou=Groups,"+suffix)
	err = c.ModifyDN(rename)
	check("rename and move", err == nil, err)
	moved := "cn=renamed,ou=Groups," + suffix

	other, err := ldap.DialURL(os.Getenv("URL"))
	check("a second connection", err == nil, err)
	check("the new name binds", other.Bind(moved, "first secret") == nil)
	changed, err := other.PasswordModify(ldap.NewPasswordModifyRequest("", "first secret", "second secret"))
	check("password modify", err == nil, changed, err)
	check("the new password binds", other.Bind(moved, "second secret") == nil)
	check("the old one does not", ldap.IsErrorWithCode(other.Bind(moved, "first secret"), ldap.LDAPResultInvalidCredentials))
	other.Close()

	err = c.Del(ldap.NewDelRequest(moved, nil))
	check("delete", err == nil, err)
	err = c.Del(ldap.NewDelRequest(moved, nil))
	check("delete again", ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject), err)
	err = c.Del(ldap.NewDelRequest("ou=People,"+suffix, nil))
	check("delete what has children", ldap.IsErrorWithCode(err, ldap.LDAPResultNotAllowedOnNonLeaf), err)
	fmt.Println("done")
}
