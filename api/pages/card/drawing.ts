import { chainNames, chainOf } from '../../../config/chains.ts'
import type { Earned } from '../../../db/queries/income/earned.ts'
import { colorOf, initial, nameOf } from '../parts/avatar.ts'
import type { Profile } from '../parts/exact-json.ts'
import { cents } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { previewSize } from '../parts/layout.ts'
import { firstCodePoints, oneLine } from '../parts/text.ts'

const { width, height } = previewSize
/** Left and right edge of the texts, in pixels. */
const left = 300
const right = width - 70

interface Told {
  readonly agent: Profile
  /** Undefined: nothing. */
  readonly earned: Earned | undefined
  readonly serviceName: string
}

/**
 * An agent's preview card as SVG, 1200 x 630. Characters that the bundled fonts lack are left out, and the profile
 * picture, which is a stranger's file, is not drawn.
 */
export function cardDrawing({ agent, earned, serviceName }: Told): string {
  const { fid, handle, handle_assurance: named, claimed, chains } = agent
  const name = drawable(nameOf(agent)) || (handle === null ? '' : drawable(`@${handle}`)) || `FID ${fid}`
  const mark = named === 'stated' ? ' (stated)' : ''
  const under = [...(handle === null ? [] : [drawable(`@${handle}${mark}`)]), `FID ${fid}`].filter(
    (text) => text !== '',
  )
  const letter = drawable(initial(agent)) || String(fid).slice(0, 1)
  const facts = earned ? `${cents(earned.last30d)} earned in 30 days, ${cents(earned.ever)} ever` : 'Nothing earned yet'
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Inter">
<rect width="${width}" height="${height}" fill="#fbfaf6"/>
<rect width="16" height="${height}" fill="#0b6152"/>
<circle cx="170" cy="215" r="90" fill="${colorOf(agent)}"/>
<text x="170" y="248" text-anchor="middle" fill="#fff" font-size="92">${letter}</text>
${line(name, { y: 205, size: 66, bold: true })}
${line(under.join(' · '), { y: 265, size: 34, fill: '#65625a' })}
${line(claimed ? 'Claimed by its owner' : 'Not claimed', { y: 340, size: 34, fill: claimed ? '#0b6152' : '#65625a', bold: claimed })}
${line(facts, { y: 400, size: 34 })}
${chains.map((label, index) => chain(label, index))}
<text x="80" y="570" font-size="28" fill="#65625a">${drawable(serviceName)}</text>
</svg>`.text
}

interface Line {
  readonly y: number
  readonly size: number
  readonly fill?: string
  readonly bold?: boolean
}

function line(text: string, { y, size, fill = '#1d1c19', bold = false }: Line): Html {
  const fitting = fitted(text, size)
  return html`<text x="${left}" y="${y}" font-size="${fitting.size}" fill="${fill}"${bold && html` font-weight="bold"`}>${fitting.text}</text>`
}

const chainStep = 124

function chain(label: string, index: number): Html {
  const name = chainNames.find((one) => chainOf(one).label === label)
  const x = left + index * chainStep
  return html`<circle cx="${x + 9}" cy="458" r="9" fill="${name === undefined ? '#65625a' : chainOf(name).hue}"/><text x="${x + 28}" y="468" font-size="28" fill="#1d1c19">${label}</text>`
}

/** Smallest share of its intended size to which a text is shrunk; a text that still does not fit is cut. */
const smallest = 0.55

/** A text and its font size such that it fits between `left` and `right`: shrunk first, then cut. */
function fitted(text: string, size: number): { text: string; size: number } {
  const room = right - left
  const whole = widthOf(text) * size
  if (whole <= room) return { text, size }
  const small = Math.max(size * smallest, (size * room) / whole)
  let shown = text
  while (widthOf(shown) * small > room) shown = `${firstCodePoints(shown, [...shown].length - 2)}…`
  return { text: shown, size: Math.floor(small) }
}

/** Estimated width of a text in ems, too wide rather than too narrow. */
const widthOf = (text: string) => [...text].reduce((sum, one) => sum + (/[MWmw@%…\p{Lu}]/u.test(one) ? 1 : 0.66), 0)

/** A text without the characters that the bundled fonts lack and would draw as boxes. */
function drawable(text: string): string {
  return oneLine(
    text
      .normalize('NFC')
      .replace(/[^\x20-\x7e\u00a0-\u00ff\u2013-\u2026€·\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/gu, ''),
  )
}
