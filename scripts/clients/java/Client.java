import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.*;
import com.unboundid.ldap.sdk.controls.*;
import com.unboundid.ldap.sdk.extensions.*;
import com.unboundid.util.ssl.SSLUtil;
import com.unboundid.util.ssl.PEMFileTrustManager;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** Asks a directory what the UnboundID SDK can ask, and prints a line for each check. */
public final class Client {
    private static final String SUFFIX = System.getenv("SUFFIX");
    private static final String USER = System.getenv("USER_DN");

    private interface Work {
        void run() throws Exception;
    }

    private static void check(final String what, final boolean good, final Object... details) {
        System.out.println(good ? "ok " + what : "FAILED " + what + " " + List.of(details));
    }

    private static int code(final Work work) {
        try {
            work.run();
            return 0;
        } catch (final LDAPException error) {
            return error.getResultCode().intValue();
        } catch (final Exception error) {
            System.err.println(error);
            return -1;
        }
    }

    private static int is(final String what, final int expected, final Work work) {
        final int code = code(work);
        check(what, code == expected, "code", code, "instead of", expected);
        return code;
    }

    private static SearchRequest search(final String filter, final Control... controls) throws LDAPException {
        final SearchRequest request = new SearchRequest(SUFFIX, SearchScope.SUB, filter, "cn", "sn", "uid");
        request.setControls(controls);
        return request;
    }

    public static void main(final String[] arguments) throws Exception {
        final LDAPConnection connection = new LDAPConnection("localhost", Integer.parseInt(System.getenv("PORT")));
        final SSLUtil ssl = new SSLUtil(new PEMFileTrustManager(new File(System.getenv("CA"))));
        is("StartTLS", 0, () -> connection.processExtendedOperation(
                new StartTLSExtendedRequest(ssl.createSSLContext())));
        final RootDSE root = connection.getRootDSE();
        check("the root DSE", root != null && root.supportsControl(SimplePagedResultsControl.PAGED_RESULTS_OID)
                && root.supportsExtendedOperation(WhoAmIExtendedRequest.WHO_AM_I_REQUEST_OID));
        final com.unboundid.ldap.sdk.schema.Schema schema = connection.getSchema();
        check("the schema", schema != null && schema.getAttributeType("uid") != null
                && schema.getObjectClass("inetOrgPerson") != null && schema.getMatchingRules().size() > 20);

        is("a wrong password", 49, () -> connection.bind(USER, "wrong"));
        is("bind", 0, () -> connection.bind(USER, System.getenv("USER_PASSWORD")));
        final WhoAmIExtendedResult who = (WhoAmIExtendedResult) connection.processExtendedOperation(new WhoAmIExtendedRequest());
        check("who am I", ("dn:" + USER).equals(who.getAuthorizationID()), who);

        final int all = connection.search(search("(objectClass=*)")).getEntryCount();
        check("everything", all > 30, all);
        int paged = 0;
        ASN1OctetString cookie = null;
        do {
            final SearchResult page = connection.search(search("(objectClass=*)", new SimplePagedResultsControl(5, cookie, true)));
            paged += page.getEntryCount();
            cookie = SimplePagedResultsControl.get(page).getCookie();
        } while (cookie != null && cookie.getValueLength() > 0);
        check("pages", paged == all, paged, all);

        final SearchResult sorted = connection.search(search("(objectClass=person)",
                new ServerSideSortRequestControl(true, new SortKey("sn", "caseIgnoreOrderingMatch", true))));
        String last = null;
        boolean inOrder = sorted.getEntryCount() > 3;
        for (final SearchResultEntry entry : sorted.getSearchEntries()) {
            final String sn = entry.getAttributeValue("sn").toLowerCase();
            inOrder &= last == null || last.compareTo(sn) >= 0;
            last = sn;
        }
        check("sorted", inOrder && ServerSideSortResponseControl.get(sorted).getResultCode() == ResultCode.SUCCESS);
        final SearchResult view = connection.search(search("(objectClass=person)",
                new ServerSideSortRequestControl(true, new SortKey("sn", "caseIgnoreOrderingMatch", false)),
                new VirtualListViewRequestControl(3, 1, 1, 0, null, true)));
        check("a view of a list", view.getEntryCount() == 3
                && VirtualListViewResponseControl.get(view).getTargetPosition() == 3, view);
        final SearchRequest matched = new SearchRequest(SUFFIX, SearchScope.SUB, "(uid=ada)", "objectClass");
        matched.addControl(new MatchedValuesRequestControl(true,
                MatchedValuesFilter.createEqualityFilter("objectClass", "posixAccount")));
        final String[] values = connection.search(matched).getSearchEntries().get(0).getAttributeValues("objectClass");
        check("matched values", values.length == 1, values.length);

        final String dn = "cn=Java Client,ou=People," + SUFFIX;
        final AddRequest add = new AddRequest(new Entry(dn, new Attribute("objectClass", "inetOrgPerson"),
                new Attribute("cn", "Java Client"), new Attribute("sn", "Client"), new Attribute("userPassword", "first secret")));
        add.addControl(new PostReadRequestControl(true, "entryUUID", "cn"));
        final LDAPResult added = connection.add(add);
        final PostReadResponseControl after = PostReadResponseControl.get(added);
        check("add, and read it back", after != null && after.getEntry().hasAttribute("entryUUID"));
        is("add again", 68, () -> connection.add(dn, new Attribute("objectClass", "person"), new Attribute("sn", "x")));
        is("modify", 0, () -> connection.modify(new ModifyRequest(dn,
                new Modification(ModificationType.ADD, "description", "one", "two"),
                new Modification(ModificationType.DELETE, "description", "one"))));
        final ModifyRequest asserted = new ModifyRequest(dn, new Modification(ModificationType.REPLACE, "title", "boss"));
        asserted.addControl(new AssertionRequestControl("(description=one)"));
        is("an assertion that fails", 122, () -> connection.modify(asserted));
        final ModifyRequest lenient = new ModifyRequest(dn, new Modification(ModificationType.ADD, "description", "two"));
        lenient.addControl(new PermissiveModifyRequestControl(true));
        is("a value twice, permissively", 0, () -> connection.modify(lenient));
        final ModifyRequest before = new ModifyRequest(dn, new Modification(ModificationType.REPLACE, "description", "three"));
        before.addControl(new PreReadRequestControl(true, "description"));
        final PreReadResponseControl read = PreReadResponseControl.get(connection.modify(before));
        check("what it was before", read != null && "two".equals(read.getEntry().getAttributeValue("description")));
        check("compare", connection.compare(dn, "sn", "CLIENT").compareMatched()
                && !connection.compare(dn, "sn", "other").compareMatched());
        is("compare what it has not", 16, () -> connection.compare(dn, "title", "boss"));
        is("rename and move", 0, () -> connection.modifyDN(dn, "cn=renamed", true, "ou=Groups," + SUFFIX));

        final StartTransactionExtendedResult transaction = (StartTransactionExtendedResult)
                connection.processExtendedOperation(new StartTransactionExtendedRequest());
        check("a transaction begins", transaction.getResultCode() == ResultCode.SUCCESS, transaction);
        if (transaction.getResultCode() == ResultCode.SUCCESS) {
            final List<AsyncRequestID> pending = new ArrayList<>();
            final String moved = "cn=renamed,ou=Groups," + SUFFIX;
            final ModifyRequest inside = new ModifyRequest(moved, new Modification(ModificationType.REPLACE, "title", "inside"));
            inside.addControl(new TransactionSpecificationRequestControl(transaction.getTransactionID()));
            is("an update within it", 0, () -> connection.modify(inside));
            check("is not seen yet", !connection.getEntry(moved).hasAttribute("title"));
            is("its end", 0, () -> connection.processExtendedOperation(
                    new EndTransactionExtendedRequest(transaction.getTransactionID(), true)));
            check("is seen now", "inside".equals(connection.getEntry(moved).getAttributeValue("title")));
        }
        final LDAPConnection other = new LDAPConnection("localhost", connection.getConnectedPort());
        is("the new name binds", 0, () -> other.bind("cn=renamed,ou=Groups," + SUFFIX, "first secret"));
        final PasswordModifyExtendedResult changed = (PasswordModifyExtendedResult) other.processExtendedOperation(
                new PasswordModifyExtendedRequest(null, "first secret", null));
        check("a generated password", changed.getResultCode() == ResultCode.SUCCESS && changed.getGeneratedPassword() != null, changed);
        if (changed.getGeneratedPassword() != null) {
            is("it binds", 0, () -> other.bind("cn=renamed,ou=Groups," + SUFFIX, changed.getGeneratedPassword()));
        }
        other.close();
        is("delete", 0, () -> connection.delete("cn=renamed,ou=Groups," + SUFFIX));
        is("delete again", 32, () -> connection.delete("cn=renamed,ou=Groups," + SUFFIX));
        connection.close();
        System.out.println("done");
    }
}
