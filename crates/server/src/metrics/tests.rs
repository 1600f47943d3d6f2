use std::collections::HashSet;

use super::family::{self, FAMILIES, Figures, Histogram, Value};

#[test]
fn names_are_unique_and_have_help() {
    let names: HashSet<String> = FAMILIES.iter().map(|family| family.full_name()).collect();
    assert_eq!(names.len(), FAMILIES.len());
    for row in family::metrics_table().lines().skip(2) {
        assert!(row.ends_with(". |"), "{row}");
    }
}

#[test]
fn figures_are_text_in_the_order_of_the_table() {
    let mut figures = Figures::default();
    let name = "dc=a\"b\\c\nd".to_owned();
    figures.add(&family::DATABASE_FILE, vec![name], Value::Count(4096));
    figures.count(&family::SENT, 7);
    let classes = vec![(0.001, 2), (f64::INFINITY, 1)];
    let histogram = Histogram {
        classes,
        sum: std::time::Duration::from_millis(1500),
    };
    let labels = vec!["search".to_owned()];
    figures.add(
        &family::OPERATION_DURATION,
        labels,
        Value::Histogram(histogram),
    );
    figures.add(&family::BUILD, vec!["1.2".to_owned()], Value::Info);
    let text = figures.text().unwrap();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("# HELP"))
        .collect();
    assert_eq!(
        lines,
        [
            "# TYPE fulgurite_build info",
            "fulgurite_build_info{version=\"1.2\"} 1",
            "# TYPE fulgurite_operation_duration_seconds histogram",
            "# UNIT fulgurite_operation_duration_seconds seconds",
            "fulgurite_operation_duration_seconds_sum{operation=\"search\"} 1.5",
            "fulgurite_operation_duration_seconds_count{operation=\"search\"} 3",
            "fulgurite_operation_duration_seconds_bucket{le=\"0.001\",operation=\"search\"} 2",
            "fulgurite_operation_duration_seconds_bucket{le=\"+Inf\",operation=\"search\"} 3",
            "# TYPE fulgurite_sent_bytes counter",
            "# UNIT fulgurite_sent_bytes bytes",
            "fulgurite_sent_bytes_total 7",
            "# TYPE fulgurite_database_file_bytes gauge",
            "# UNIT fulgurite_database_file_bytes bytes",
            "fulgurite_database_file_bytes{database=\"dc=a\\\"b\\\\c\\nd\"} 4096",
            "# EOF",
        ]
    );
}
