<?php
// Asks a directory what PHP's ldap extension can ask, and prints a line for each check.

[$suffix, $user, $password] = [getenv('SUFFIX'), getenv('USER_DN'), getenv('USER_PASSWORD')];

function check(string $what, bool $good, string $details = ''): void
{
    echo $good ? "ok $what\n" : "FAILED $what $details\n";
}

function code(string $what, int $expected, LDAP\Connection $ldap): void
{
    check($what, ldap_errno($ldap) === $expected, ldap_errno($ldap) . ' ' . ldap_error($ldap));
}

$ldap = ldap_connect(getenv('URL'));
ldap_set_option($ldap, LDAP_OPT_PROTOCOL_VERSION, 3);
ldap_set_option($ldap, LDAP_OPT_REFERRALS, 0);
check('StartTLS', @ldap_start_tls($ldap), ldap_error($ldap));
@ldap_bind($ldap, $user, 'wrong');
code('a wrong password', 49, $ldap);
check('bind', @ldap_bind($ldap, $user, $password), ldap_error($ldap));
check('who am I', ldap_exop_whoami($ldap) === "dn:$user");

$found = ldap_search($ldap, $suffix, '(uid=ada)', ['cn', 'mail']);
$entries = ldap_get_entries($ldap, $found);
check('search', $entries['count'] === 1 && isset($entries[0]['mail'][0]));
$all = ldap_count_entries($ldap, ldap_search($ldap, $suffix, '(objectClass=*)', ['1.1']));
check('everything', $all > 30);
[$paged, $cookie] = [0, ''];
do {
    $controls = [['oid' => LDAP_CONTROL_PAGEDRESULTS, 'iscritical' => true, 'value' => ['size' => 9, 'cookie' => $cookie]]];
    $page = ldap_search($ldap, $suffix, '(objectClass=*)', ['1.1'], 0, 0, 0, LDAP_DEREF_NEVER, $controls);
    ldap_parse_result($ldap, $page, $code, $matched, $message, $referrals, $answers);
    $paged += ldap_count_entries($ldap, $page);
    $cookie = $answers[LDAP_CONTROL_PAGEDRESULTS]['value']['cookie'] ?? '';
} while ($cookie !== '');
check('pages', $paged === $all, "$paged of $all");
@ldap_search($ldap, $suffix, '(objectClass=*)', ['1.1'], 0, 2);
code('a size limit', 4, $ldap);
$listed = ldap_list($ldap, $suffix, '(objectClass=*)');
check('one level', ldap_count_entries($ldap, $listed) > 2);
check('one entry', ldap_count_entries($ldap, ldap_read($ldap, $user, '(objectClass=*)')) === 1);

$dn = "cn=Grüße,ou=People,$suffix";
$entry = ['objectClass' => ['person'], 'cn' => ['Grüße', 'second'], 'sn' => 'PHP', 'userPassword' => 'first secret'];
check('add', @ldap_add($ldap, $dn, $entry), ldap_error($ldap));
@ldap_add($ldap, $dn, $entry);
code('add again', 68, $ldap);
check('a batch of changes', @ldap_modify_batch($ldap, $dn, [
    ['attrib' => 'description', 'modtype' => LDAP_MODIFY_BATCH_ADD, 'values' => ['one', 'two', 'three']],
    ['attrib' => 'description', 'modtype' => LDAP_MODIFY_BATCH_REMOVE, 'values' => ['two']],
    ['attrib' => 'telephoneNumber', 'modtype' => LDAP_MODIFY_BATCH_REPLACE, 'values' => ['+1 555 0177']],
]), ldap_error($ldap));
$found = ldap_search($ldap, $suffix, '(telephoneNumber=+1-555-0177)');
check('what was modified', ldap_get_entries($ldap, $found)[0]['description']['count'] === 2);
check('compare, true', ldap_compare($ldap, $dn, 'sn', 'php') === true);
check('compare, false', ldap_compare($ldap, $dn, 'sn', 'other') === false);
check('rename and move', @ldap_rename($ldap, $dn, 'cn=renamed', "ou=Groups,$suffix", true), ldap_error($ldap));
$dn = "cn=renamed,ou=Groups,$suffix";

$other = ldap_connect(getenv('URL'));
ldap_set_option($other, LDAP_OPT_PROTOCOL_VERSION, 3);
check('the new name binds', @ldap_bind($other, $dn, 'first secret'), ldap_error($other));
check('password modify', @ldap_exop_passwd($other, '', 'first secret', 'second secret') !== false, ldap_error($other));
check('the new password binds', @ldap_bind($other, $dn, 'second secret'), ldap_error($other));
ldap_unbind($other);
check('delete', @ldap_delete($ldap, $dn), ldap_error($ldap));
@ldap_delete($ldap, $dn);
code('delete again', 32, $ldap);
ldap_unbind($ldap);
echo "done\n";
