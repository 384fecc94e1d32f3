import type { z } from 'zod'
import type { NameStanding } from '../../claim/name-look.ts'
import { addressParameter, fidParameter } from '../../http/parameters.ts'
import { search } from '../../routes/directory/search.ts'
import type { searchAnswer } from '../../schemas/directory/search.ts'
import { type Html, html } from '../parts/html.ts'
import { askExact, type World } from '../parts/page.ts'

export type Subject = { readonly fid: number } | { readonly address: string }

/** What a query names: an address, a FID, or the FID of a listed agent's handle; undefined: none of these. */
export async function subjectOf(world: World, q: string): Promise<Subject | undefined> {
  const address = addressParameter.safeParse(q)
  if (address.success) return { address: address.data }
  const fid = fidParameter.safeParse(q.replace(/^fid\s*[:#]?\s*/i, ''))
  if (fid.success) return { fid: fid.data }
  const handle = q.replace(/^@/, '')
  const named = search.query.parse({ q: `@${handle}`, in: 'name', limit: '1' })
  // The search puts an exact match of a handle first.
  const [first] = (await askExact<z.output<typeof searchAnswer>>(world, search, named))?.agents ?? []
  return first?.handle?.toLowerCase() === handle.toLowerCase() ? { fid: first.fid } : undefined
}

/** The user name of the network that a query may be, in lower case; undefined: no name looks like it. */
export function userNameIn(q: string): string | undefined {
  const name = q.replace(/^@/, '').toLowerCase()
  return /^(?=.{1,64}$)[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*$/.test(name) ? name : undefined
}

/** One line on what the network said of a user name. */
export function nameLine(name: string, standing: NameStanding): Html {
  const { state } = standing
  if (state === 'found') return html`On Farcaster <bdi>@${name}</bdi> is the account with FID ${standing.fid}.`
  if (state === 'nobody') return html`Nobody on Farcaster has the name <bdi>@${name}</bdi>.`
  return html`No agent here has the handle <bdi>@${name}</bdi>, and Farcaster could not be asked for it just now. Try again in a minute, or give the FID.`
}

/** Only what Farcaster documents: where its apps show a FID differs and changes. */
export const whereFid = html`<p class="note">A FID is the number of an account on Farcaster. You need not know it: give the user name, such as @ada, and Farcaster is asked whose it is. <a href="https://docs.farcaster.xyz/developers/guides/accounts/find-by-name">How to ask it yourself</a></p>`
