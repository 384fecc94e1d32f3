import type { SettlementDay } from '../../../db/queries/read/settlement-days.ts'
import { type Html, html } from '../../http/html.ts'
import { counted, dollars } from '../parts/figures.ts'

// In units of the drawing; it is stretched to the width of the page.
const dayWidth = 20
const gap = 4
const height = 96
/** The least height of a bar, so that one settlement beside thousands is still seen. */
const lowest = 3

/** One bar a day, by number of settlements; each says its day, number and volume on pointing at it. */
export function settlementChart(days: readonly SettlementDay[]): Html {
  const most = Math.max(1, ...days.map(({ count }) => count))
  const count = days.reduce((sum, day) => sum + day.count, 0)
  const volume = days.reduce((sum, day) => sum + BigInt(day.amount), 0n)
  const summary = `${counted(count, 'settlement')} over ${days.length} days, ${dollars(inDollars(volume))} in all`
  const bar = ({ day, count: settled, amount }: SettlementDay, index: number) => {
    const tall = settled === 0 ? 1 : Math.max(lowest, Math.round((settled / most) * height))
    const said = `${day}: ${counted(settled, 'settlement')}, ${dollars(inDollars(BigInt(amount)))}`
    return html`<rect class="${settled === 0 ? 'rest' : 'bar'}" x="${index * dayWidth + gap / 2}" y="${height - tall}" width="${dayWidth - gap}" height="${tall}" rx="2"><title>${said}</title></rect>`
  }
  return html`<figure class="chart">
<svg viewBox="0 0 ${days.length * dayWidth} ${height}" role="img" aria-label="${summary}" preserveAspectRatio="none">${days.map(bar)}</svg>
<figcaption><span>${days[0]?.day}</span><span>${summary}</span><span>${days.at(-1)?.day}</span></figcaption>
</figure>`
}

/** Base units as exact dollars. */
function inDollars(amount: bigint): string {
  return `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`
}
