//! What reports are about: each concept with the words tables use for it and the words people use in
//! questions. Training and development part share them, so that the association can be learned.

/// One thing that a report gives a figure for.
#[derive(Debug)]
pub(super) struct Concept {
    /// Its name in fact keys.
    pub id: &'static str,
    /// Row headers (or words of a sentence) it goes by; a report keeps to one.
    pub labels: &'static [&'static str],
    /// Noun phrases of questions, other than the labels; the last keeps some of the labels' words.
    /// No two concepts share one.
    pub synonyms: &'static [&'static str],
}

impl Concept {
    /// The label that a report with this salt uses.
    pub fn label(&self, salt: usize) -> &'static str {
        let own: usize = self.id.bytes().map(usize::from).sum();
        self.labels[(salt / 7 + own) % self.labels.len()]
    }
}

/// A label as it stands inside a sentence: without its capital, unless that is an abbreviation's.
pub(super) fn in_sentence(label: &str) -> String {
    let mut chars = label.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(chars).collect(),
        _ => label.to_owned(),
    }
}

macro_rules! concepts {
    ($($id:ident: [$($label:literal),+] => [$($synonym:literal),+];)+) => {
        $(pub(super) static $id: Concept = Concept {
            id: stringify!($id),
            labels: &[$($label),+],
            synonyms: &[$($synonym),+],
        };)+
        /// All concepts, as a list.
        #[cfg(test)]
        pub(super) static ALL: &[&Concept] = &[$(&$id),+];
    };
}

concepts! {
    // Income statement.
    NET_REVENUE: ["Net revenue", "Net sales", "Revenues", "Total net revenue"] => ["turnover", "the top line", "takings from customers", "sales revenue"];
    COST_OF_REVENUE: ["Cost of revenue", "Cost of sales", "Cost of goods sold"] => ["production costs", "the direct expense of making and delivering products", "outlays for materials and manufacturing", "the cost of goods and sales"];
    GROSS_PROFIT: ["Gross profit", "Gross margin"] => ["the markup over production costs", "earnings before any overheads", "profit at the gross level"];
    RESEARCH: ["Research and development", "Research and development expense"] => ["spending on new products", "innovation outlays", "engineering and laboratory costs", "research spending"];
    OVERHEAD: ["Selling , general and administrative", "Marketing and administrative expense"] => ["overheads", "the cost of the sales force and head office", "marketing and administrative overhead"];
    AMORTIZATION: ["Amortization of intangible assets", "Amortization of acquired intangibles"] => ["the yearly write-down of patents and customer lists", "amortization of purchased patents"];
    OPERATING_INCOME: ["Operating income", "Income from operations"] => ["EBIT", "profit before interest and tax", "earnings from the core business", "operating earnings"];
    INTEREST: ["Interest expense", "Interest expense , net"] => ["financing charges", "the price of borrowing", "what lenders were paid for their credit", "interest on loans"];
    OTHER_INCOME: ["Other income ( expense ) , net", "Non-operating income ( loss )"] => ["gains and losses outside the core business", "other non-operating gains"];
    PRETAX: ["Income before income taxes", "Earnings before provision for income taxes"] => ["profit before tax", "the pre-tax result", "income before tax"];
    TAX: ["Provision for income taxes", "Income tax expense"] => ["the tax charge", "the bill from the fiscal authorities", "income taxes charged"];
    NET_EARNINGS: ["Net earnings", "Net income"] => ["the bottom line", "profit after tax", "the final surplus for shareholders", "net profit"];
    EPS: ["Diluted earnings per share", "Net earnings per diluted share"] => ["EPS after dilution", "profit on each diluted unit of stock", "diluted EPS per share"];
    // Balance sheet.
    CASH: ["Cash and cash equivalents"] => ["liquid funds", "money in the bank", "cash on hand"];
    SHORT_INVESTMENTS: ["Short-term investments", "Marketable securities"] => ["readily sold paper holdings", "temporary placements of spare funds", "short-term securities"];
    RECEIVABLES: ["Accounts receivable , net", "Trade receivables , net"] => ["unpaid customer bills", "money owed by customers", "receivables from customers"];
    INVENTORIES: ["Inventories", "Inventories , net"] => ["goods in the warehouse", "unsold stock on hand", "inventories on hand"];
    OTHER_CURRENT_ASSETS: ["Prepaid expenses and other current assets", "Other current assets"] => ["advance payments and sundry near-term items", "prepaid and other items"];
    CURRENT_ASSETS: ["Total current assets"] => ["all resources convertible within twelve months", "current assets taken together"];
    PPE: ["Property , plant and equipment , net", "Property and equipment , net"] => ["factories and machines at book value", "tangible fixed capital", "net property and machines"];
    GOODWILL: ["Goodwill"] => ["the premium paid on past takeovers", "excess purchase price of acquired companies", "goodwill from past takeovers"];
    INTANGIBLES: ["Intangible assets , net", "Other intangible assets , net"] => ["the book value of patents and brands", "intangible property such as brands"];
    OTHER_ASSETS: ["Other assets", "Other non-current assets"] => ["miscellaneous long-lived holdings", "other long-lived assets"];
    TOTAL_ASSETS: ["Total assets"] => ["everything the company owns", "the balance sheet sum", "the sum of all assets"];
    PAYABLES: ["Accounts payable", "Trade payables"] => ["money owed to suppliers", "unpaid vendor invoices", "payables to suppliers"];
    ACCRUED_PAY: ["Accrued compensation and benefits", "Accrued payroll"] => ["wages owed to staff", "salaries earned but not yet paid", "accrued wages"];
    DEFERRED_CURRENT: ["Deferred revenue , current", "Deferred revenue - current portion"] => ["customer prepayments to be earned within a year", "deferred revenue to be earned within a year"];
    DEBT_CURRENT: ["Current portion of long-term debt", "Current maturities of long-term debt"] => ["loans repayable within twelve months", "long-term debt repayable within a year"];
    OTHER_CURRENT: ["Other current liabilities", "Other accrued liabilities"] => ["sundry near-term obligations", "other liabilities of the near term"];
    CURRENT_LIABILITIES: ["Total current liabilities"] => ["all obligations payable within twelve months", "current liabilities taken together"];
    DEBT_LONG: ["Long-term debt , net of current portion", "Long-term debt , less current maturities"] => ["loans repayable after more than a year", "non-current borrowings", "long-term debt repayable after a year"];
    DEFERRED_LONG: ["Deferred revenue , long-term", "Deferred revenue - non-current portion"] => ["customer prepayments to be earned after more than a year", "deferred revenue to be earned after a year"];
    OTHER_LONG: ["Other long-term liabilities", "Other non-current liabilities"] => ["miscellaneous distant obligations", "other liabilities of the distant future"];
    LIABILITIES: ["Total liabilities"] => ["everything the company owes", "the sum of all liabilities"];
    EQUITY: ["Total shareholders ' equity", "Total stockholders ' equity"] => ["the owners ' capital", "net worth", "equity of the owners"];
    // Cash flow statement.
    DEPRECIATION: ["Depreciation and amortization", "Depreciation and amortization expense"] => ["wear and write-downs of long-lived property", "depreciation of long-lived property"];
    SHARE_COMPENSATION: ["Share-based compensation", "Stock-based compensation expense"] => ["pay in shares", "the cost of equity awards to staff", "equity compensation"];
    WORKING_CAPITAL: ["Changes in operating assets and liabilities", "Changes in working capital"] => ["the swing in funds tied up in daily business", "the change in operating working capital"];
    OPERATING_CASH: ["Net cash provided by operating activities", "Cash flows from operations"] => ["funds generated by running the business", "operating cash generation"];
    CAPEX: ["Purchases of property and equipment", "Capital expenditures", "Additions to property , plant and equipment"] => ["investment in plants and machinery", "outlays for fixed equipment", "capital spending on property and equipment"];
    ACQUISITIONS: ["Acquisitions , net of cash acquired", "Business combinations , net of cash acquired"] => ["money spent on takeovers", "payments for companies bought", "cash paid for acquisitions"];
    INVESTING_CASH: ["Net cash used in investing activities", "Cash flows from investing"] => ["funds absorbed by investment as a whole", "cash absorbed by investing"];
    BORROWED: ["Proceeds from issuance of long-term debt", "Proceeds from borrowings"] => ["newly raised loans", "fresh credit taken up", "proceeds from new loans"];
    REPAID: ["Repayments of long-term debt", "Payments on borrowings"] => ["loans paid back", "money returned to lenders", "repayments to lenders"];
    BUYBACKS: ["Repurchases of common stock", "Purchases of treasury shares"] => ["buybacks", "own equity bought in the market", "repurchases of own shares"];
    DIVIDENDS: ["Dividends paid", "Cash dividends to shareholders"] => ["distributions to owners", "the payout to holders of stock", "dividends to owners"];
    FINANCING_CASH: ["Net cash used in financing activities", "Cash flows from financing"] => ["the balance of transactions with lenders and owners", "the cash balance of financing"];
    CASH_CHANGE: ["Net change in cash and cash equivalents"] => ["the movement in liquid funds over the twelve months", "the net change in liquid funds"];
    // Segments and regions.
    SEGMENT_PROFIT: ["Segment operating profit", "Segment operating income"] => ["the divisional result", "the contribution to earnings", "operating profit at segment level"];
    LONG_LIVED: ["Long-lived assets", "Property and equipment by location"] => ["fixed property on the ground", "long-lived property"];
    HEADCOUNT: ["Employees", "Full-time employees", "Headcount"] => ["the workforce", "the number of people on the payroll", "staff", "the count of employees"];
    // Schedules.
    DEBT_DUE: ["Principal payments", "Debt maturities", "Scheduled maturities of debt"] => ["borrowings to be repaid", "loan redemptions", "payments of principal on debt"];
    LEASE_DUE: ["Minimum lease payments", "Future lease payments", "Lease commitments"] => ["rentals owed to landlords and lessors", "committed rent", "lease rentals"];
    STATUTORY_RATE: ["Federal statutory rate", "U.S. statutory tax rate"] => ["the tax percentage set by law", "the statutory percentage"];
    STATE_RATE: ["State and local taxes , net of federal benefit", "State income taxes"] => ["the effect of levies below the national level", "the effect of state levies"];
    FOREIGN_RATE: ["Foreign rate differential", "Effect of foreign operations"] => ["the effect of taxation abroad", "the foreign effect on the rate"];
    CREDIT_RATE: ["Research tax credits", "Tax credits"] => ["relief granted for innovation work", "the effect of credits on the rate"];
    OTHER_RATE: ["Other effects on the rate", "Other reconciling items"] => ["the sundry items between the legal and the actual tax percentage", "the other items of the reconciliation"];
    EFFECTIVE_RATE: ["Effective tax rate", "Effective income tax rate"] => ["the actual percentage of profit taken by tax", "the effective burden of tax"];
    AWARDS_OPEN: ["Unvested units at beginning of year", "Units outstanding , beginning of year"] => ["awards not yet earned when the year opened", "the amount outstanding or unvested at the beginning"];
    AWARDS_GRANTED: ["Units granted", "Awards granted"] => ["awards newly handed out", "new awards granted"];
    AWARDS_VESTED: ["Units vested", "Awards vested and released"] => ["awards that became the holders ' property", "awards that vested"];
    AWARDS_FORFEITED: ["Units forfeited", "Awards forfeited or cancelled"] => ["awards lost by leavers", "forfeited awards"];
    AWARDS_CLOSE: ["Unvested units at end of year", "Units outstanding , end of year"] => ["awards not yet earned when the year closed", "the amount outstanding or unvested at the end"];
    ROLL_OPEN: ["Balance , beginning of year", "Balance at beginning of period"] => ["the amount carried in", "the beginning balance"];
    ROLL_ADDED: ["Charged to costs and expenses", "Additions charged to expense"] => ["the build-up through profit or loss", "additions charged"];
    ROLL_USED: ["Deductions", "Utilization and settlements"] => ["the amount used up", "deductions by utilization"];
    ROLL_CLOSE: ["Balance , end of year", "Balance at end of period"] => ["the amount carried out", "the ending balance"];
    PENSION_SERVICE: ["Service cost"] => ["the price of benefits earned by staff in the period", "the cost of service"];
    PENSION_INTEREST: ["Interest cost"] => ["the unwinding of the discount on promised benefits", "interest on promised benefits"];
    PENSION_RETURN: ["Expected return on plan assets"] => ["anticipated gains of the retirement fund", "the expected gains on plan assets"];
    PENSION_LOSS: ["Amortization of net actuarial loss", "Recognized actuarial loss"] => ["the spreading of past estimation errors", "the actuarial loss recognized"];
    PENSION_COST: ["Net periodic benefit cost", "Net periodic pension cost"] => ["the overall yearly charge for retirement promises", "net periodic expense"];
    GOODWILL_ADDED: ["Goodwill acquired", "Additions from acquisitions"] => ["takeover premiums newly booked", "goodwill from new acquisitions"];
    GOODWILL_FX: ["Currency translation", "Foreign currency effects"] => ["exchange rate movements on takeover premiums", "currency effects on goodwill"];
    MONEY_FUNDS: ["Money market funds"] => ["pooled cash vehicles", "money funds"];
    TREASURIES: ["U.S. Treasury securities", "U.S. government securities"] => ["federal bonds", "U.S. Treasury bonds"];
    CORPORATE_BONDS: ["Corporate debt securities", "Corporate notes and bonds"] => ["paper issued by other companies", "corporate bonds"];
    COMMERCIAL_PAPER: ["Commercial paper", "Certificates of deposit"] => ["bills of a few months ' life", "short-dated commercial bills"];
    HELD_AT_FAIR_VALUE: ["Total assets at fair value", "Total financial assets"] => ["all holdings carried at market prices", "all financial holdings at fair value"];
    // In sentences only.
    BUYBACK_LEFT: ["remaining repurchase authorization"] => ["the unused part of the buyback program", "room left for buying in own stock", "the repurchase authorization still remaining"];
    BUYBACK_PRICE: ["average price per repurchased share"] => ["the mean amount paid for each unit of stock bought back", "the average repurchase price"];
    BACKLOG: ["order backlog"] => ["orders not yet filled", "work still to be delivered", "the backlog of orders"];
    CAPEX_PLAN: ["expected capital expenditures"] => ["planned investment in equipment", "the budget for new machinery", "capital spending expected"];
    UNDRAWN: ["available borrowing capacity"] => ["credit lines still unused", "room left with the banks", "borrowing capacity left"];
    UNRECOGNIZED: ["unrecognized compensation cost"] => ["equity pay still to be expensed", "compensation still to be recognized"];
    ADVERTISING: ["advertising expense"] => ["spending on publicity", "the cost of promotion campaigns", "advertising outlays"];
    CUSTOMER_SHARE: ["share of the largest customer"] => ["dependence on the biggest buyer", "the part of the biggest customer"];
    DEAL_COSTS: ["transaction costs"] => ["fees for lawyers and bankers on deals", "costs of deals and transactions"];
    LEGAL: ["accrual for legal matters"] => ["the provision for lawsuits", "money set aside for court cases", "legal accruals"];
    PENSION_PLAN: ["expected pension contributions"] => ["planned payments into the retirement fund", "contributions planned for pensions"];
    DIVIDEND_PER_SHARE: ["dividends declared per share"] => ["the payout on each unit of stock", "the dividend on one share"];
    STORES: ["retail locations"] => ["the number of outlets", "shops in operation", "retail shops"];
    CREDIT_LETTERS: ["outstanding letters of credit"] => ["guarantees given by banks on the company ' s behalf", "letters of credit"];
    PROFITS_ABROAD: ["undistributed foreign earnings"] => ["profits kept outside the country", "foreign earnings kept abroad"];
    IMPAIRMENT: ["impairment charges"] => ["write-offs of lost asset value", "impairment write-offs"];
    PATENTS: ["issued patents"] => ["the number of protected inventions", "patents held"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_concepts_share_a_word_to_ask_in() {
        let mut words: Vec<String> = Vec::new();
        for concept in ALL {
            words.extend(concept.synonyms.iter().map(|synonym| synonym.to_lowercase()));
            words.extend(concept.labels.iter().map(|label| label.to_lowercase()));
        }
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), count);
    }
}
