import { type Html, html } from '../pages/parts/html.ts'

/** A text of ours with names in backticks, as a page shows it. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`
}
