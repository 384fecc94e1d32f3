import type { SettlementDay } from '../../../db/queries/read/settlement-days.ts'
import { type Html, html } from '../../http/html.ts'
import type { Profile, Settlement } from '../parts/answers.ts'
import { settlementTable } from '../parts/settlement-table.ts'
import { settlementChart } from './settlement-chart.ts'

/** The last 30 days as a chart, the newest ones as rows. */
export function settlements(
  { settlements_all: ever }: Profile,
  newest: readonly Settlement[],
  days: readonly SettlementDay[],
): Html {
  if (ever === 0 && newest.length === 0) {
    return html`<section aria-labelledby="settlements"><h2 id="settlements">Settlements</h2>
<p class="empty">No gasless USDC payment has reached a verified address of this agent yet.</p></section>`
  }
  return html`<section aria-labelledby="settlements"><h2 id="settlements">Settlements</h2>
${settlementChart(days)}
${settlementTable('Newest settlements', newest)}</section>`
}
