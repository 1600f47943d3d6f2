//! The attacks of OWASP's lists, by plain requests.

use crate::rig::{Rig, SETTINGS, status, token};

/// Returns the headers of a response in lower case.
fn head(response: &str) -> String {
    let (head, _) = response.split_once("\r\n\r\n").expect("a head");
    head.to_lowercase()
}

/// Returns the cookie of a session that a response begins.
fn begun(response: &str) -> Option<&str> {
    let cookie = response.split("set-cookie: fulgurite-console=").nth(1)?;
    cookie.split(';').next()
}

#[test]
fn a_session_has_an_identifier_that_nobody_chose() {
    let rig = Rig::start(SETTINGS);
    let chosen = "0".repeat(64);
    let form = rig.get("/login", "");
    let secret = form.split("fulgurite-login=").nth(1).expect("a cookie");
    let secret = &secret[..64];
    let cookies = format!("Cookie: fulgurite-console={chosen}; fulgurite-login={secret}\r\n");
    let body = format!("form={secret}&name=ada&password=ada-secret");
    let signed_in = rig.post("/login", &cookies, &body);
    let id = begun(&signed_in).expect("a session");
    assert_ne!(id, chosen);
    let chosen = format!("Cookie: fulgurite-console={chosen}\r\n");
    assert_eq!(status(&rig.get("/me", &chosen)), "401");
    // The same form again needs its cookie, and begins another session.
    assert_eq!(status(&rig.post("/login", "", &body)), "403");
    let again = rig.post("/login", &cookies, &body);
    assert_ne!(begun(&again).expect("a session"), id);
    // A session ends for its identifier, however often a browser sends it.
    let fields = format!("Cookie: fulgurite-console={id}\r\n");
    let page = rig.get("/me", &fields);
    assert_eq!(status(&page), "200");
    let form = format!("token={}", token(&page));
    assert_eq!(status(&rig.post("/logout", &fields, &form)), "303");
    assert_eq!(status(&rig.get("/me", &fields)), "401");
}

#[test]
fn a_new_password_ends_other_sessions() {
    let rig = Rig::start(SETTINGS);
    let (own, other) = (
        rig.session("ada", "ada-secret"),
        rig.session("ada", "ada-secret"),
    );
    let bjorn = rig.session("bjorn", "bjorn-secret");
    let password = |fields: &str, old: &str| {
        let token = token(&rig.get("/me", fields));
        let form = format!("token={token}&old={old}&new=ada-new&again=ada-new");
        status(&rig.post("/me/password", fields, &form))
    };
    // A refused change ends nothing.
    assert_eq!(password(&own, "wrong"), "200");
    assert_eq!(status(&rig.get("/me", &other)), "200");
    assert_eq!(password(&own, "ada-secret"), "303");
    assert_eq!(status(&rig.get("/me", &own)), "200");
    assert_eq!(status(&rig.get("/me", &other)), "401");
    assert_eq!(status(&rig.get("/me", &bjorn)), "200");
    // An administrator's reset and lock end all of them, in any spelling of the name.
    let admin = rig.session("admin", "secret");
    let token = token(&rig.get("/me", &admin));
    let user = "/user?dn=UID%3Dbjorn,+ou%3DPeople,dc%3Dexample,dc%3Dcom";
    let reset = format!("token={token}&do=password&new=bjorn-new");
    assert_eq!(status(&rig.post(user, &admin, &reset)), "303");
    assert_eq!(status(&rig.get("/me", &bjorn)), "401");
    let bjorn = rig.session("bjorn", "bjorn-new");
    let lock = format!("token={token}&do=lock");
    assert_eq!(status(&rig.post(user, &admin, &lock)), "303");
    assert_eq!(status(&rig.get("/me", &bjorn)), "401");
    assert_eq!(status(&rig.get("/me", &admin)), "200");
}

#[test]
fn forms_of_others_change_nothing() {
    let rig = Rig::start(SETTINGS);
    let (ada, bjorn) = (
        rig.session("ada", "ada-secret"),
        rig.session("bjorn", "bjorn-secret"),
    );
    let own = token(&rig.get("/me", &ada));
    let others = token(&rig.get("/me", &bjorn));
    let post = |path: &str, fields: &str, body: &str| {
        status(&rig.post(path, &format!("{ada}{fields}"), body))
    };
    let title = |token: &str| format!("token={token}&title=Evil");
    assert_eq!(post("/me", "", "title=Evil"), "403");
    assert_eq!(post("/me", "", &title(&others)), "403");
    assert_eq!(post(&format!("/me?token={own}"), "", "title=Evil"), "403");
    for fields in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
        "Origin: http://localhost.evil.example\r\n",
    ] {
        assert_eq!(post("/me", fields, &title(&own)), "403", "{fields}");
    }
    // Other methods are no way around, nor are other kinds of forms, such as uploads.
    let query = title(&own);
    assert_eq!(status(&rig.get(&format!("/me?{query}"), &ada)), "200");
    let overridden = format!("{ada}X-HTTP-Method-Override: POST\r\n");
    assert_eq!(
        status(&rig.get(&format!("/me?{query}&_method=POST"), &overridden)),
        "200"
    );
    for (kind, body) in [
        ("multipart/form-data; boundary=x", "--x\r\n\r\n"),
        ("text/plain", query.as_str()),
        ("application/json", "{}"),
    ] {
        let request = format!(
            "POST /me HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: {kind}\r\n{ada}\r\n{body}",
            rig.address,
            body.len()
        );
        assert_eq!(status(&rig.ask(request.as_bytes())), "415", "{kind}");
    }
    for method in ["PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT"] {
        let request =
            format!("{method} /me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{ada}\r\n");
        let status = status(&rig.ask(request.as_bytes()));
        assert!(
            ["400", "405", "421"].contains(&status.as_str()),
            "{method}: {status}"
        );
    }
    assert!(!rig.get("/me", &ada).contains("Evil"));
    let from_here = format!(
        "Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n",
        rig.address
    );
    assert_eq!(post("/me", &from_here, &title(&own)), "303");
    assert!(rig.get("/me", &ada).contains("Evil"));
}

#[test]
fn hosts_paths_and_headers_lead_nowhere_else() {
    let rig = Rig::start(SETTINGS);
    let ada = rig.session("ada", "ada-secret");
    for host in [
        "evil.example",
        "localhost.evil",
        "localhost@evil.example",
        "evil.example:80",
        "",
    ] {
        let request = format!("GET /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = rig.ask(request.as_bytes());
        assert!(
            ["421", "400"].contains(&status(&answer).as_str()),
            "{host}: {answer}"
        );
    }
    // A forwarded name decides nothing.
    let forwarded = "X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\n";
    let answer = rig.get("/users", forwarded);
    assert!(head(&answer).contains("\r\nlocation: /login"), "{answer}");
    for path in [
        "/..%2f..%2fetc%2fpasswd",
        "/../../etc/passwd",
        "/style.css/../me",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/me%00",
        "//evil.example/me",
        "/me/",
        "/ME",
    ] {
        let answer = rig.get(path, &ada);
        assert!(
            ["404", "400"].contains(&status(&answer).as_str()),
            "{path}: {answer}"
        );
        assert!(!answer.contains("root:"), "{path}");
    }
    // Each response says that nothing keeps or frames it.
    for (path, fields) in [
        ("/me", ada.as_str()),
        ("/me", ""),
        ("/style.css", ""),
        ("/nothing", ada.as_str()),
        ("/me", "Cookie: fulgurite-console=x\r\n"),
    ] {
        let head = head(&rig.get(path, fields));
        for field in [
            "\r\ncache-control: no-store",
            "\r\nx-frame-options: deny",
            "frame-ancestors 'none'",
            "\r\nx-content-type-options: nosniff",
            "\r\nreferrer-policy: no-referrer",
        ] {
            assert!(head.contains(field), "{path}: {field}\n{head}");
        }
        assert!(!head.contains("\r\nserver:"), "{head}");
    }
    // Names in forms end in addresses of redirects, and stay values there.
    let admin = rig.session("admin", "secret");
    let token = token(&rig.get("/me", &admin));
    let unit = "/entry/rename?dn=ou%3Dpeople,dc%3Dexample,dc%3Dcom";
    let form = format!(
        "token={token}&rdn=ou%3Da%0D%0AX-Evil:+1%0D%0A%0D%0A%3Cscript%3E\
         &parent=dc%3Dexample,dc%3Dcom"
    );
    let answer = rig.post(unit, &admin, &form);
    assert!(!head(&answer).contains("\r\nx-evil"), "{answer}");
    assert!(!answer.contains("<script>"), "{answer}");
}

#[test]
fn deep_names_and_many_fields_are_refused_or_harmless() {
    let rig = Rig::start(SETTINGS);
    let ada = rig.session("ada", "ada-secret");
    let token = token(&rig.get("/me", &ada));
    let deep = ["cn%3Da"; 800].join(",");
    for path in [
        "/tree",
        "/entry",
        "/user",
        "/group",
        "/entry/delete",
        "/entry/rename",
    ] {
        let answer = rig.get(&format!("{path}?dn={deep}"), &ada);
        assert!(
            ["200", "400"].contains(&status(&answer).as_str()),
            "{path}: {}",
            status(&answer)
        );
    }
    let deep = ["cn%3Da"; 100_000].join(",");
    for (path, field) in [
        ("/entry/new", "parent"),
        ("/users/new", "parent"),
        ("/access", "entry"),
    ] {
        let form = format!("token={token}&{field}={deep}&class=person&rdn=cn&v.cn=a");
        let answer = status(&rig.post(path, &ada, &form));
        assert!(
            !answer.starts_with('5') && !answer.is_empty(),
            "{path}: {answer}"
        );
    }
    let many = "a=b&".repeat(250_000);
    let answer = rig.post("/me", &ada, &format!("{many}token={token}"));
    assert_eq!(status(&answer), "303", "nothing is changed");
    assert_eq!(status(&rig.get("/me", &ada)), "200", "the session goes on");
}

#[test]
fn names_of_identities_are_no_way_to_other_rights() {
    let rig = Rig::start(SETTINGS);
    let names = [
        "dn:cn%3Dadmin,dc%3Dexample,dc%3Dcom",
        "u:admin",
        "u:ada",
        "dn:",
        "ada%00",
        "%2B",
        "cn%3Dadmin,dc%3Dexample,dc%3Dcom%00",
    ];
    for name in names {
        let answer = rig.sign_in(name, "bjorn-secret");
        assert_eq!(status(&answer), "403", "{name}");
    }
    // An empty password would be a bind without identity.
    for name in ["ada", "cn%3Dadmin,dc%3Dexample,dc%3Dcom"] {
        assert_eq!(status(&rig.sign_in(name, "")), "403");
    }
    // A user reads and writes as LDAP allows, whatever a form names.
    let ada = rig.session("ada", "ada-secret");
    let token = token(&rig.get("/me", &ada));
    let bjorn = "/user?dn=uid%3Dbjorn,ou%3Dpeople,dc%3Dexample,dc%3Dcom";
    let reset = format!(
        "token={token}&do=password&new=x&authzid=dn:cn%3Dadmin,dc%3Dexample,dc%3Dcom\
         &user=cn%3Dadmin,dc%3Dexample,dc%3Dcom"
    );
    let answer = rig.post(bjorn, &format!("{ada}X-Forwarded-User: admin\r\n"), &reset);
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(answer.contains("The password is not reset"), "{answer}");
    assert_eq!(status(&rig.sign_in("bjorn", "bjorn-secret")), "303");
}
