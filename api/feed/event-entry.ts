import type { DirectoryEvent } from '../../db/queries/log/directory-events.ts'
import { escaped, oneLine } from '../pages/parts/text.ts'
import type { Entry } from './agent-entry.ts'

const words: Record<DirectoryEvent['kind'], (status: string) => string> = {
  listed: () => 'is in the directory now',
  delisted: () => 'left the directory',
  claimed: () => 'was claimed by its owner',
  unclaimed: () => 'is claimed no more',
  control: () => 'can be changed by others than before',
  status: (status) => `is ${status} now`,
}

/**
 * Entry of an event. It says what held then, so it is always the same; only the handle is left out while the account is
 * unlisted.
 */
export function toEventEntry({ seq, at, fid, kind, handle, status }: DirectoryEvent, siteUrl: string): Entry {
  const known = oneLine(handle ?? '')
  const name = known === '' ? `FID ${fid}` : `${known} (FID ${fid})`
  const title = `${name} ${words[kind](status)}`
  return {
    address: `${siteUrl}/agent/${fid}#event-${seq}`,
    title,
    author: known === '' ? `FID ${fid}` : known,
    summary: title,
    content: `<p>${escaped(title)}</p>`,
    terms: kind === 'delisted' ? [kind] : [kind, status], // who left has no status any more
    published: at,
    updated: at,
  }
}
