package business

// table lists the tools of one server. A line has a subject, the verbs that only read,
// and the verbs that have effects:
//
//	vehicle: list get search | create update retire
//
// A line "[fleet]" names the module of the lines that follow. A line that begins with
// "=" has whole names.
type table struct {
	server string
	name   func(module, verb, subject string) string
	text   string
}

var tables = []table{
	{"erp", moduleVerbSubject, `
[fleet]
vehicle: list get search | create update retire
driver: list get search | create update suspend
trip: list get search | create update cancel
fuel_card: list get | issue block
inspection: list get | schedule complete
= fleet_vehicle_position fleet_vehicle_costs fleet_mileage_report | fleet_assign_driver fleet_import_fuel_receipts
[stock]
item: list get search | create update archive
warehouse: list get search | create update
transfer: list get | create confirm cancel
count: list get | start record close
batch: list get search | create block release
supplier: list get search | create update
= stock_levels stock_valuation stock_movements stock_expiring | stock_adjust stock_reserve stock_release
[purchase]
order: list get search | create update approve cancel
request: list get search | create update approve reject
receipt: list get | create post
contract: list get search | create update terminate
tender: list get | create publish award
= purchase_spend_by_supplier purchase_open_commitments purchase_price_history | purchase_send_reminder
[sales]
order: list get search | create update confirm cancel
quote: list get search | create update send accept
delivery: list get search | create update ship
return: list get | create approve
price_list: list get | create update
discount: list get | create update
= sales_margin sales_forecast sales_top_customers sales_backlog | sales_apply_discount
[finance]
invoice: list get search | create update post cancel
payment: list get search | create reverse
journal: list get search | create post
account: list get search | create update close
cost_center: list get | create update
budget: list get | create update approve
asset: list get search | create dispose
tax_rate: list get | create update
= finance_trial_balance finance_cash_position finance_aging_report finance_exchange_rates finance_vat_return | finance_close_period finance_run_dunning finance_match_payments
[production]
work_order: list get search | create update release complete
machine: list get search | create update
shift: list get | plan close
recipe: list get search | create update
quality_check: list get | record
= production_capacity production_downtime production_schedule production_scrap_report | production_reschedule production_report_output
[hr]
employee: list get search | create update terminate
department: list get | create update
position: list get | create update close
absence: list get | request approve reject
expense: list get search | create approve reject
candidate: list get search | create update reject hire
training: list get | create enroll complete
contract: list get | create renew terminate
= hr_headcount hr_org_chart hr_vacation_balance hr_salary_bands hr_birthdays hr_overtime | hr_run_payroll hr_send_payslips
[project]
project: list get search | create update close
task: list get search | create update assign complete
milestone: list get | create update
timesheet: list get | submit approve
risk: list get | create update
= project_progress project_utilization project_critical_path | project_shift_dates
`},
	{"facilities", verbSubject, `
building: list get search | create update
floor: list get | create update
room: list get search | create update
desk: list get search | create update
pool: list get | open close
parking_space: list get search | create update
amenity: list get | create update
booking: list get search | create update cancel
visitor: list get search | register check_out
badge: list get | issue revoke
work_permit: list get | create approve close
ticket: list get search | create update assign close
contractor: list get search | create update
meter: list get | create update
alarm: list get | acknowledge silence
cleaning_plan: list get | create update
key: list get | hand_out take_back
= deviations energy_report water_quality occupancy_today find_free_room air_quality evacuation_plan room_temperature meter_readings | set_room_temperature start_ventilation report_hazard move_desk lock_doors unlock_door send_announcement
`},
	{"crm", camel, `
contact: list get search | create update delete merge
company: list get search | create update delete merge
deal: list get search | create update delete
lead: list get search | create update delete convert
task: list get | create update delete complete
note: list get | create update delete
campaign: list get search | create update pause
segment: list get | create update delete
email: list get search | send schedule
call: list get | log
meeting: list get search | create update cancel
product: list get search | create update
pipeline: list get | create update
form: list get | create update
webhook: list get | create delete
user: list get |
= whoAmI pipelineSummary dealHistory contactTimeline duplicateContacts accountHealth exportReport searchEverything | assignOwner moveDealToStage enrollInSequence unsubscribeContact bulkTag importContacts
`},
	{"wiki", subjectVerb, `
page: get list search history diff | create update delete move restore
space: get list | create update archive
comment: get list | create update delete resolve
attachment: get list | upload delete
label: list | add remove
template: get list | create update delete
user: get list search |
watch: list | add remove
draft: get list | create publish discard
macro: get list |
= recent_changes broken_links page_children orphan_pages export_pdf search_text page_tree | replace_everywhere import_markdown rename_space
`},
}
