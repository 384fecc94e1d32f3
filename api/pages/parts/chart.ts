import { amount, dollars } from './figures.ts'
import { type Html, html } from './html.ts'

/** One bar of a chart; its tooltip has the same values as its row of the table. */
export interface Bar {
  readonly name: string
  readonly value: number
  /** Table cells of the bar, one for each column after the first. */
  readonly cells: readonly Cell[]
}

/** Text, or dollars: to the cent in the table, exact in the tooltip. */
type Cell = string | { readonly usd: string }

interface Chart {
  /** Element id, unique among the charts of the page. */
  readonly id: string
  readonly title: string
  /** Text alternative: the chart in a sentence. */
  readonly summary: string
  readonly columns: readonly string[]
  readonly bars: readonly Bar[]
  readonly scale: (value: number) => string
  /** Whether the last bar covers a time that is not over; default: false. */
  readonly isLastPartial?: boolean
}

// Units of the drawing. It is stretched to the width of the page, so it holds no text.
const barWidth = 20
const gap = 4
const height = 100
/** The least height of a bar, so that one settlement next to thousands is still seen. */
const lowest = 3

/** Bars with axes, and the same numbers as a table. */
export function chart({ id, title, summary, columns, bars, scale, isLastPartial = false }: Chart): Html {
  const top = roundedUp(Math.max(0, ...bars.map(({ value }) => value)))
  const bar = ({ name, value, cells }: Bar, index: number) => {
    const tall = value === 0 ? 1 : Math.max(lowest, Math.round((value / top) * height))
    const kind = value === 0 ? 'rest' : isLastPartial && index === bars.length - 1 ? 'bar part' : 'bar'
    return html`<rect class="${kind}" x="${index * barWidth + gap / 2}" y="${height - tall}" width="${barWidth - gap}" height="${tall}"><title>${[name, ...cells.map(exactly)].join(', ')}</title></rect>`
  }
  const rows = bars.filter(({ value }) => value > 0)
  return html`<figure class="chart">
<div class="plot"><div class="scale" aria-hidden="true"><span>${scale(top)}</span><span>${scale(top / 2)}</span><span>${scale(0)}</span></div>
<svg viewBox="0 0 ${Math.max(1, bars.length) * barWidth} ${height}" role="img" aria-labelledby="${id}-title ${id}-text" preserveAspectRatio="none"><title id="${id}-title">${title}</title><desc id="${id}-text">${summary}</desc>${bars.map(bar)}</svg>
<div class="ticks" aria-hidden="true">${ticks(bars).map((name) => html`<span>${name}</span>`)}</div></div>
<figcaption>${summary}${isLastPartial && ' The last bar is still growing.'}</figcaption>
${
  rows.length > 0 &&
  html`<details class="values"><summary>The values as a table</summary>
<div class="table" role="group" aria-label="${title}" tabindex="0"><table><thead><tr>${columns.map((column, index) => html`<th scope="col"${index > 0 && html` class="number"`}>${column}</th>`)}</tr></thead>
<tbody>${rows.map(({ name, cells }) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td class="number">${typeof cell === 'string' ? cell : amount(cell.usd)}</td>`)}</tr>`)}</tbody></table></div>
<p class="sub">Whatever is missing here is zero.</p></details>`
}
</figure>`
}

const exactly = (cell: Cell) => (typeof cell === 'string' ? cell : dollars(cell.usd))

/** Labels of the time axis: the first, the middle and the last bar. */
function ticks(bars: readonly Bar[]): string[] {
  const places = bars.length < 3 ? bars.map((_, index) => index) : [0, Math.floor(bars.length / 2), bars.length - 1]
  return places.map((place) => bars[place]?.name ?? '')
}

/** Top of the scale: the smallest 1, 2 or 5 times a power of ten that is at least `value`. */
function roundedUp(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5].map((digit) => digit * power).find((one) => one >= value) ?? 10 * power
}
