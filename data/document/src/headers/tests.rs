//! What is inferred of tables that are nothing but texts and merged regions.

use crate::model::Table;
use crate::{Region, table_of_texts};

/// A line is a row, `|` parts cells; a cell `=` is one with the cell to its left, `^` with that above.
fn table(text: &str) -> Table {
    let rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect()).collect();
    let at = |row: usize, col: usize| rows.get(row).and_then(|row| row.get(col)).map(String::as_str);
    let mut merged = Vec::new();
    for (row, line) in rows.iter().enumerate() {
        for col in (0..line.len()).filter(|&col| !matches!(at(row, col), Some("=" | "^"))) {
            let last_col = (col + 1..).take_while(|&right| at(row, right) == Some("=")).last().unwrap_or(col);
            let last_row = (row + 1..).take_while(|&below| at(below, col) == Some("^")).last().unwrap_or(row);
            if (last_row, last_col) != (row, col) {
                merged.push(Region { first_row: row, last_row, first_col: col, last_col });
            }
        }
    }
    table_of_texts(&rows, &merged).unwrap().0
}

/// The row path of the cell in the last column of a row.
fn row_path(table: &Table, row: usize) -> String {
    table.path(&table.row_headers_of(table.cell_at(row, table.cols() - 1).unwrap()))
}

fn row_paths(text: &str) -> Vec<String> {
    let table = table(text);
    (table.num_header_rows()..table.rows()).map(|row| row_path(&table, row)).collect()
}

#[test]
fn regression_what_is_left_of_revenue_is_no_part_of_it() {
    let paths = row_paths(
        "|2025|2024\nSubscription|56,214|45,902\nServices|5,583|6,291\nTotal revenue|61,797|52,193\n\
         Cost of subscription|11,806|10,741\nCost of services|4,912|5,217\nGross profit|45,079|36,235\n\
         Research|14,420|12,688\nSales|29,048|29,296\nOperating income|1,611|-5,749",
    );
    assert!(paths.iter().all(|path| !path.contains(" > ")), "{paths:?}");
}

#[test]
fn parts_stand_under_their_sum_though_shares_do_not_add_up() {
    let paths = row_paths(
        "Offence|Number|Share|Median|Fined|Share\n\
         Violent|38,020|36|70|2,862|7\nHomicide|111|82|1825|4|3\nRobbery|37,909|57|365|2,858|1\n\
         Property|45,071|42|30|6,782|18\nTheft|20,720|42|23|4,614|22\nFraud|24,351|60|120|2,168|7",
    );
    assert_eq!(
        paths,
        ["Violent", "Violent > Homicide", "Violent > Robbery", "Property", "Property > Theft", "Property > Fraud"]
    );
}

#[test]
fn numbers_that_add_up_by_chance_head_nothing() {
    assert_eq!(row_paths("Season|Games|Goals\n2001|30|12\n2002|16|7\n2003|14|5"), ["2001", "2002", "2003"]);
}

#[test]
fn a_sum_takes_all_parts_that_fit_not_the_first_that_nearly_do() {
    let paths =
        row_paths("|2023|2024\nCanada|625,206|632,288\nEast|320,100|330,150\nWest|304,150|301,020\nNorth|956|1,118");
    assert_eq!(paths, ["Canada", "Canada > East", "Canada > West", "Canada > North"]);
}

#[test]
fn totals_stand_beside_the_total_of_them() {
    let paths = row_paths(
        "|2023|2024\nTotal crime|3,000|5,000\nTotal violent|1,000|2,000\nRobbery|600|1,100\nAssault|400|900\nTotal property|2,000|3,000",
    );
    assert_eq!(
        paths,
        ["Total crime", "Total violent", "Total violent > Robbery", "Total violent > Assault", "Total property"]
    );
}

#[test]
fn titles_that_come_again_stand_under_those_that_do_not() {
    let group = "Sex|=|=\nMale|4.6|4.4\nFemale|5.4|5.1\nAge|=|=\nYoung|5.3|5.2\nOld|5.1|4.7\n";
    let table = table(&format!(
        "|2007|2014\nWith juice|=|=\nAverage|5.0|4.7\n{group}Without juice|=|=\nAverage|3.6|3.4\n{group}"
    ));
    assert_eq!(row_path(&table, 2), "With juice > Average");
    assert_eq!(row_path(&table, 7), "With juice > Age > Young");
    assert_eq!(row_path(&table, 12), "Without juice > Sex > Male");
}

#[test]
fn rows_whose_names_come_again_stand_under_those_that_come_once() {
    let group = "Physics|6.5|5.1\nBiology|4.8|4.9\n";
    let paths = row_paths(&format!("|1991|2011\nBoth|10.1|9.9\n{group}Men|11.2|10.8\n{group}"));
    assert_eq!(paths[4..], ["Men > Physics", "Men > Biology"].map(str::to_owned)[..], "{paths:?}");
}

#[test]
fn each_row_of_all_heads_its_group() {
    let paths = row_paths(
        "|a|b\nAll buildings|0.38|0.30\nPlants|0.30|0.29\nOffices|0.41|0.29\nAll machinery|0.27|0.25\nComputers|0.31|0.27\nTools|0.26|0.26",
    );
    assert_eq!((paths[2].as_str(), paths[4].as_str()), ("All buildings > Offices", "All machinery > Computers"));
}

#[test]
fn the_mark_of_a_note_beside_words_is_no_number() {
    let noted = table("|Shares received|Cash paid|2\nFirst quarter|9.38|$500|\nSecond quarter|7.82|400|");
    assert_eq!(noted.num_header_rows(), 1);
    assert_eq!(noted.path(&noted.column_headers_of(noted.cell_at(1, 2).unwrap())), "Cash paid");
    let numbers = table("Cash|5||\nDebt||7|8\nOther||1|2");
    assert_eq!(numbers.num_header_rows(), 0);
}

#[test]
fn a_year_alone_is_a_title() {
    let paths = row_paths("Order|East|West\n2012||\nFirst|27.6|28.7\n2013||\nFirst|27.8|28.8");
    assert_eq!((paths[1].as_str(), paths[3].as_str()), ("2012 > First", "2013 > First"));
}

#[test]
fn columns_under_no_upper_header_hold_names() {
    let table = table(
        "|||Season|=|Playoffs|=\nYear|Team|League|Games|Wins|Games|Wins\n1984|A|East|28|9|1|0\n1985|B|West|31|7|8|4",
    );
    assert_eq!((table.num_header_rows(), table.num_header_cols()), (2, 3));
    assert_eq!(row_path(&table, 3), "1985 > B > West");
}

#[test]
fn counts_beside_two_names_belong_to_them_and_amounts_do_not() {
    let body = "1998|A|16|326|15\n1999|B|15|331|37";
    let counts = table(&format!("Year|Team|Played|Passing|=\n^|^|^|Yards|Wins\n{body}"));
    assert_eq!((counts.num_header_rows(), counts.num_header_cols()), (2, 3));
    let amounts = table("Year|Team|Paid|Passing|=\n^|^|^|Yards|Wins\n1998|A|16,000|326|15\n1999|B|15.5|331|37");
    assert_eq!(amounts.num_header_cols(), 2);
}

#[test]
fn years_with_a_footnote_mark_head_columns() {
    let table = table("Sector|2014|2015a|2016b\nBusiness|1,000|1,200|1,300\nState|20|30|40");
    assert_eq!(table.num_header_rows(), 1);
    assert_eq!(table.path(&table.column_headers_of(table.cell_at(2, 3).unwrap())), "2016b");
}

#[test]
fn regression_years_with_a_mark_in_brackets_head_columns_under_a_merged_header() {
    let table = table("|Year Ended|=|=\n|2018|2017 (a)|2016 (1)\nCargo|1,237|1,114|934\nOther|2|3|4");
    assert_eq!(table.num_header_rows(), 2);
    assert_eq!(table.path(&table.column_headers_of(table.cell_at(2, 2).unwrap())), "Year Ended > 2017 (a)");
}

#[test]
fn a_title_over_all_columns_ends_the_unit_of_the_data_columns() {
    let body = "|percent|=\nCanada|56|45\nProvinces|=|=\nQuebec|55|34\nOntario|55|48";
    let paths = row_paths(&format!("Place|Couples|Married\n{body}"));
    assert_eq!(paths[1], "percent > Canada");
    assert_eq!(paths[3..], ["Provinces > Quebec", "Provinces > Ontario"].map(str::to_owned)[..], "{paths:?}");
}

#[test]
fn rows_with_numbers_head_the_titles_that_come_again_below_each() {
    let group = "Sex||\nMale|9.5|8.8\nFemale|8.7|8.2\nAge||\nYoung|4.7|6.7\nOld|4.8|0.8\n";
    let paths = row_paths(&format!("|2007|2014\nGood health|8.6|8.5\n{group}Good sleep|9.6|9.0\n{group}"));
    assert_eq!(paths[0], "Good health");
    assert_eq!(paths[2], "Good health > Sex > Male");
    assert_eq!(paths[7], "Good sleep");
    assert_eq!(paths[12], "Good sleep > Age > Young");
}

#[test]
fn the_last_row_of_a_group_does_not_head_the_next() {
    let paths = row_paths("|a|b\nEast|1|2\nSales||\nIron|3|4\nTin|2|8\nSales||\nWood|5|6\nWool|7|9");
    assert_eq!(
        paths[3..],
        ["Sales > Tin", "Sales", "Sales > Wood", "Sales > Wool"].map(str::to_owned)[..],
        "{paths:?}"
    );
}

#[test]
fn a_total_right_below_a_title_begins_its_group() {
    let paths = row_paths("|a|b\nVisits||\nTotal|40.9|19.4\nMen|43.1|20.9\nCalls||\nTotal|20.0|5.8\nMen|20.2|5.9");
    assert_eq!((paths[2].as_str(), paths[5].as_str()), ("Visits > Men", "Calls > Men"));
}

#[test]
fn blanks_among_the_children_of_merged_headers_are_no_data() {
    let table = table("Model|Display|=|Input\n|Type|Size|none\nTouch|E-ink|6|pad\nGlo|E-ink|7|none");
    assert_eq!(table.num_header_rows(), 2);
}

#[test]
fn a_column_of_dates_is_no_second_header_column() {
    for dates in [
        ["2020", "2021", "2022"],
        ["2020-05-04", "5/4/2021", "04.05.2022"],
        ["May 2020", "4 Oct. 2021", "May 4th, 2022"],
    ] {
        let body = |first: [&str; 3]| -> String {
            first.iter().zip(dates).map(|(name, date)| format!("\n{name}|{date}|7")).collect()
        };
        for first in [["1.0", "1.1", "2.0"], ["Ant", "Bee", "Cat"]] {
            let table = table(&format!("Version|Released|Downloads{}", body(first)));
            assert_eq!((table.num_header_rows(), table.num_header_cols()), (1, 1), "{first:?} {dates:?}");
        }
    }
    // A rank before a name is none of its own.
    let ranked = table("Rank|Name|Goals\n1|Anna|12\n2|Bert|9\n3|Carl|7");
    assert_eq!(ranked.num_header_cols(), 2);
}

#[test]
fn what_happened_stands_under_the_balance_that_it_leads_to() {
    let year = "Net income|5|5\nRepurchases of stock|(2)|(2)\n";
    let paths = row_paths(&format!(
        "|Shares|Total\nBalance as of May 31, 2022|9|10\n{year}Balance as of May 31, 2023|12|13\n{year}Other:||\nTaxes|1|2\n\
         Balances as of May 31, 2024|16|18"
    ));
    let expected = [
        "Balance as of May 31, 2022",
        "Balance as of May 31, 2023 > Net income",
        "Balance as of May 31, 2023 > Repurchases of stock",
        "Balance as of May 31, 2023",
        "Balances as of May 31, 2024 > Net income",
        "Balances as of May 31, 2024 > Repurchases of stock",
        "Balances as of May 31, 2024 > Other:",
        "Balances as of May 31, 2024 > Other: > Taxes",
        "Balances as of May 31, 2024",
    ];
    assert_eq!(paths, expected);
    // A balance below a title begins anew, and two parts with titles are two.
    let part = "Balance, May 31, 2022|10|10\nPaid|(2)|(2)\nBalance, May 31, 2023|8|8";
    let paths = row_paths(&format!("|a|b\nStock:||\n{part}\nEarnings:||\n{part}"));
    assert_eq!(paths[2], "Stock: > Balance, May 31, 2023 > Paid");
    assert_eq!(paths[6], "Earnings: > Balance, May 31, 2023 > Paid");
    let stock =
        "|Number|Price\nUnvested at January 1, 2024|9|10\nGranted|5|5\nUnvested at December 31, 2024|12|13\nOther|1|1";
    assert_eq!(row_paths(stock)[1], "Unvested at December 31, 2024 > Granted");
    // Days of other things, and one balance alone.
    for other in [
        "|a|b\nQuarter ended March 31, 2024|1|2\nHigh|3|4\nQuarter ended June 30, 2024|5|6",
        "|a|b\nBalance at May 1, 2024|1|2\nHigh|3|4",
    ] {
        assert_eq!(row_paths(other)[1], "High");
    }
}

#[test]
fn a_line_of_a_scale_alone_is_one_of_units() {
    for line in [
        "USD million", "(£ thousand)", "€m", "Amounts in £'000", "in $ millions", "SEK bn", "(US$000)",
        "All amounts are in EUR thousands.",
    ] {
        assert!(super::is_unit_line(line), "{line}");
    }
    for line in ["", "million", "Thousand Oaks", "M", "€", "We invested USD 5 million", "k", "EUR amounts", "In"] {
        assert!(!super::is_unit_line(line), "{line}");
    }
}

#[test]
fn regression_numbers_beside_a_header_that_spans_rows_are_data() {
    let cols = |text: &str| table(text).num_header_cols();
    assert_eq!(cols("Region|2023|2024\nNorth|10|20\n^|30|40\nSouth|50|60"), 1);
    assert_eq!(cols("Athlete|Event|Heat|Final\nNoah|100 m|12.84|4\n^|200 m|26.02|5\nJade|100 m|11.46|2"), 2);
    assert_eq!(cols("Region|Kind|2024\nNorth|Retail|20\n^|Online|40\nSouth|Retail|60"), 2);
}

#[test]
fn rows_of_a_single_column_stand_under_nothing() {
    let read = crate::read_bytes(
        std::path::Path::new("c.csv"),
        b"City\nBerlin\nParis\nOslo\n".to_vec(),
        &crate::ReadOptions::default(),
    );
    let document = read.unwrap().document;
    let table = document.tables().next().unwrap();
    let headers = |row| table.row_headers_of(table.cell_at(row, 0).unwrap());
    assert!((0..table.rows()).all(|row| headers(row).is_empty()));
}

#[test]
fn regression_facts_with_a_year_are_no_column_headers() {
    let facts = table("Company|Acme\nFounded|1990\nEmployees|1200\nRevenue|3.5");
    assert_eq!(facts.num_header_rows(), 1);
    assert_eq!(row_path(&facts, 1), "Founded");
    assert_eq!(table("|Fiscal year\nSegment|2024\nCloud|5").num_header_rows(), 2);
}

#[test]
fn regression_a_first_record_that_lacks_a_value_is_no_header() {
    for text in [
        "ID|Name|Score\n1|Rome1|\n2|Rome2|2\n3|Rome3|3",
        "ID|Name|Score\n1|Rome1|\n2|Rome2|\n3|Rome3|3",
        "Name|Team|Score\nAnn|Red|\nBo|Blue|2\nCy|Red|3",
        "Year|Country|Medal|Events\n2001|France|gold|\n2002|Spain|silver|3",
        "Id|Joined|Mail|Phone|Fee\nM1|2024-02-29|||\nM2|2024-03-01|a@b.org|1|5",
    ] {
        assert_eq!(table(text).num_header_rows(), 1, "{text}");
    }
    // Of these the second row is no record.
    for text in [
        "|Sales|Costs\n(in millions)|Europe|\nApples|3|4",
        "Item|2024|2023\nKind|audited|\nApples|3|4",
        "Item|Sales|Sales\nKind|Europe|\nApples|3|4",
    ] {
        assert_eq!(table(text).num_header_rows(), 2, "{text}");
    }
}
