//! BER tag-length-value reading and writing with limits (X.690, RFC 4511 section 5.1).

#![forbid(unsafe_code)]
