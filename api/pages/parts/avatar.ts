import { type Html, html } from '../../http/html.ts'
import { firstCodePoints } from './text.ts'

interface Pictured {
  readonly fid: number
  readonly handle: string | null
  readonly display_name: string | null
  readonly pfp_url: string | null
}

/** Classes `hue-0` and so on of the style sheet; neighbours in number are far apart in hue. */
const hues = 24
const hueStep = 9

/**
 * The agent's picture over its initial, which is what remains where pictures do not load: browsers that draw a mark in
 * place of a missing one draw the style sheet's copy of the initial over it.
 */
export function avatar(agent: Pictured, size: 'small' | 'large' = 'small'): Html {
  const picture = agent.pfp_url
  return html`<span class="avatar ${size} hue-${(agent.fid * hueStep + Math.floor(agent.fid / hues)) % hues}" aria-hidden="true"><svg viewBox="0 0 40 40"><rect width="40" height="40" fill="currentColor"/><text x="20" y="27" text-anchor="middle" fill="#fff" font-size="19">${initial(agent)}</text></svg>${
    picture?.startsWith('https://') &&
    html`<img src="${picture}" alt="" data-initial="${initial(agent)}" width="40" height="40" loading="lazy" decoding="async" referrerpolicy="no-referrer">`
  }</span>`
}

function initial({ display_name, handle, fid }: Pictured): string {
  const letter = /[\p{L}\p{N}]/u.exec(display_name ?? '') ?? /[\p{L}\p{N}]/u.exec(handle ?? '')
  return letter ? letter[0].toUpperCase() : String(fid).slice(0, 1)
}

/** Of a name; nobody is called by more. */
const nameCharacters = 80

/** What an agent is called: display name, else handle, else its number. */
export function nameOf({ display_name, handle, fid }: Omit<Pictured, 'pfp_url'>): string {
  const name = display_name?.trim() || handle?.trim() || `FID ${fid}`
  return name.length <= nameCharacters ? name : `${firstCodePoints(name, nameCharacters)}…`
}
