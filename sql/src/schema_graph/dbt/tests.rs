use std::path::Path;

use super::*;

/// A project of two seeds, a source, three models that are read and one that is not.
fn write(folder: &Path) {
    let put = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    put("dbt_project.yml", "name: shop\nmodel-paths: [models]\n");
    put("seeds/raw_customers.csv", "id,first_name,last_name\n1,Ann,A.\n");
    put(
        "models/staging/stg_customers.sql",
        "{{ config(materialized='view') }}\nselect id as customer_id, first_name || last_name as full_name from {{ ref('raw_customers') }}",
    );
    put(
        "models/staging/orders.sql",
        "select orders.id as order_id, user_id as customer_id, amount / 100 as amount from {{ source('app', 'orders') }}",
    );
    put(
        "models/customers.sql",
        "with orders as (select * from {{ ref('orders') }})\nselect c.customer_id, c.full_name, sum(o.amount) as total from {{ ref('stg_customers') }} c left join orders o using (customer_id) group by 1, 2",
    );
    put("models/wide.sql", "{% set all = ['a'] %}select 1");
    put(
        "models/schema.yml",
        "version: 2\nsources:\n  - name: app\n    tables:\n      - name: orders\n        description: As the shop writes them\n        columns:\n          - {name: id, data_type: integer, tests: [unique, not_null]}\n\
         models:\n  - name: customers\n    description: One row a customer\n    columns:\n      - name: total\n        description: '{{ doc(\"x\") }}'\n      - name: gone\n        description: no such column\n\
         \x20 - name: orders\n    columns:\n      - name: customer_id\n        description: Who ordered\n        data_tests:\n          - relationships:\n              arguments: {to: ref('customers'), field: customer_id}\n\
         \x20 - name: wide\n    columns: [{name: a}, {name: b}]\n",
    );
}

fn derivations(graph: &SchemaGraph) -> Vec<(String, String)> {
    graph.derivations().iter().map(|&(to, from)| (graph.column_id(to), graph.column_id(from))).collect()
}

#[test]
fn a_project_becomes_tables_views_and_derivations() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let project = DbtProject::read(folder.path()).unwrap();
    let names: Vec<&str> = project.schema.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["raw_customers", "app.orders"]);
    assert_eq!(project.schema.tables[1].primary_key, ["id"]);
    let columns: Vec<&str> = project.schema.tables[1].columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["id", "amount", "user_id"]);
    let graph = SchemaGraph::new(&project.schema, &project.semantics, project.dialect).unwrap();
    let edges = derivations(&graph);
    for (to, from) in [
        ("stg_customers.customer_id", "raw_customers.id"),
        ("stg_customers.full_name", "raw_customers.last_name"),
        ("orders.order_id", "app.orders.id"),
        ("orders.amount", "app.orders.amount"),
        ("customers.total", "orders.amount"),
        ("customers.full_name", "stg_customers.full_name"),
    ] {
        assert!(edges.contains(&(to.to_owned(), from.to_owned())), "{to} <- {from}: {edges:?}");
    }
    let join = &graph.joins()[0];
    assert_eq!(
        (graph.column_id(join.pairs[0].0), graph.column_id(join.pairs[0].1)),
        ("orders.customer_id".into(), "customers.customer_id".into())
    );
    assert_eq!(graph.tables()[graph.table("customers").unwrap()].description.as_deref(), Some("One row a customer"));
    let wide = graph.table("wide").unwrap();
    assert_eq!(graph.tables()[wide].columns.len(), 2);
    let told: Vec<String> = project.problems.iter().map(ToString::to_string).collect();
    for words in [
        "wide.sql: what the model reads is not known: {% set all = ['a'] %}",
        "customers.total is left out",
        "customers.gone is described and not there",
    ] {
        assert!(told.iter().any(|told| told.contains(words)), "{words}: {told:?}");
    }
}

#[test]
fn what_is_no_project_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!DbtProject::is_project(folder.path()));
    assert!(matches!(DbtProject::read(folder.path()), Err(DbtError::File { .. })));
    std::fs::write(folder.path().join("dbt_project.yml"), "name: [a").unwrap();
    assert!(DbtProject::read(folder.path()).unwrap_err().to_string().contains("is not YAML"));
    // Aliases that unfold to very much.
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        bomb += &format!("a{level}: &a{level} [{}]\n", before.trim_end_matches(", "));
    }
    std::fs::write(folder.path().join("dbt_project.yml"), &bomb).unwrap();
    assert!(matches!(DbtProject::read(folder.path()), Err(DbtError::File { .. })));
    std::fs::write(folder.path().join("dbt_project.yml"), "name: a\n").unwrap();
    assert!(matches!(DbtProject::read(folder.path()), Err(DbtError::Empty(_))));
}

/// The published example, as far as it is read: one of its five models has loops.
#[test]
fn jaffle_shop() {
    let Some(data) =
        tabsegnet_test_support::path_in("TABSEGNET_DATASETS", "jaffle_shop", "the folder of the shared data")
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let from = data.join("sql/derive/jaffle_shop");
    for part in ["models", "models/staging", "seeds"] {
        std::fs::create_dir_all(folder.path().join(part)).unwrap();
        for entry in std::fs::read_dir(from.join(part)).unwrap().flatten().filter(|entry| entry.path().is_file()) {
            std::fs::copy(entry.path(), folder.path().join(part).join(entry.file_name())).unwrap();
        }
    }
    std::fs::write(folder.path().join("dbt_project.yml"), "name: jaffle_shop\n").unwrap();
    let project = DbtProject::read(folder.path()).unwrap();
    let graph = SchemaGraph::new(&project.schema, &project.semantics, project.dialect).unwrap();
    let edges = derivations(&graph);
    for (to, from) in [
        ("stg_payments.amount", "raw_payments.amount"),
        ("customers.number_of_orders", "stg_orders.order_id"),
        ("customers.customer_lifetime_value", "stg_payments.amount"),
    ] {
        assert!(edges.contains(&(to.to_owned(), from.to_owned())), "{to} <- {from}: {edges:?}");
    }
    let told: Vec<String> = project.problems.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|told| told.contains("orders.sql")), "{told:?}");
    assert_eq!(told.iter().filter(|told| told.contains(".sql")).count(), 1, "{told:?}");
}
