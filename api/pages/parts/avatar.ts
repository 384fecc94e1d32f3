import { createHash } from 'node:crypto'
import type { Face } from '../../../db/queries/agents/profile.ts'
import { type Html, html } from './html.ts'
import { shortName } from './text.ts'

/** Number of CSS classes `hue-0`, `hue-1` …; `hueStep` keeps neighbouring FIDs far apart in hue. */
const hues = 24
const hueStep = 9

/**
 * The agent's picture over its initial, which is what remains where pictures do not load: browsers that draw a mark in
 * place of a missing one draw the style sheet's copy of the initial over it. Its address changes with the picture.
 */
export function avatar(agent: Face, size: 'small' | 'large' = 'small'): Html {
  const picture = agent.pfp_url
  return html`<span class="avatar ${size} hue-${hueOf(agent)}" aria-hidden="true"><svg viewBox="0 0 40 40"><rect width="40" height="40" fill="currentColor"/><text x="20" y="27" text-anchor="middle" fill="#fff" font-size="19">${initial(agent)}</text></svg>${
    isPicture(picture) &&
    html`<img src="/picture/${agent.fid}?v=${tagOf(picture)}" alt="" data-initial="${initial(agent)}" width="40" height="40" loading="lazy" decoding="async">`
  }</span>`
}

/** Whether a profile's picture is an http(s) address, and so can be served by us; a profile may hold any text. */
const isPicture = (address: string | null): address is string => /^https?:\/\//.test(address ?? '')
const tagOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 8)
const hueOf = ({ fid }: Face) => (fid * hueStep + Math.floor(fid / hues)) % hues

/** The agent's initial as an SVG document. */
export function letterImage(agent: Face): string {
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="${colorOf(agent)}"/><text x="20" y="27" text-anchor="middle" fill="#fff" font-family="Georgia, serif" font-size="19">${initial(agent)}</text></svg>`
    .text
}

/** CSS colour of an agent, equal to that of its `hue-` class in the style sheet. */
export const colorOf = (agent: Face) => `hsl(${(hueOf(agent) * 360) / hues}, 38%, 46%)`

export function initial({ display_name, handle, fid }: Face): string {
  const letter = /[\p{L}\p{N}]/u.exec(display_name ?? '') ?? /[\p{L}\p{N}]/u.exec(handle ?? '')
  return letter ? letter[0].toUpperCase() : String(fid).slice(0, 1)
}

/** Name to show for an agent: its display name, else its handle, else its FID. */
export function nameOf({ display_name, handle, fid }: Omit<Face, 'pfp_url'>): string {
  return shortName(display_name ?? '') || shortName(handle ?? '') || `FID ${fid}`
}
