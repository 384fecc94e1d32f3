import { changeDigest, changeIn, type LoggedChange } from '../transparency/change-digest.ts'
import type { Json } from '../transparency/follow.ts'
import type { LogLine } from './client.ts'

/** What a mirror was shown of an agent, for which there has to be an entry. */
interface Shown {
  readonly seq: number
  /** Null: the agent left. */
  readonly digest: string | null
  /** Whether the mirror knew nothing before: the last change may be older than the log. */
  readonly isFirst: boolean
  /** Whether the log had passed it without an entry when it was compared last. */
  isMissed: boolean
  /** How often the agent was looked for since it had an entry last: one that changes again starts no new count. */
  looks: number
}

/** Looks at the log until profiles that changed are in it: an agent that has just changed is there within seconds. */
export const mostLooks = 3

/**
 * Compares profiles, as a mirror is shown them, with the entries of the transparency log. A profile in a line is that of the
 * moment, and may have changed since: it has to have the digest of the line's entry or of a later one.
 */
export class ProfileCheck {
  #shown = new Map<number, Shown>()
  #logged = new Map<number, LoggedChange[]>()
  #loggedTo = 0
  #takenTo = 0
  /** Whether entries from the beginning of the log are missing here. */
  lacksEntries = false

  /** Profiles that the log has no entry of yet. */
  get waiting(): number {
    return this.#shown.size
  }

  /** Those of them that were looked for in it often enough. */
  get overdue(): number {
    return [...this.#shown.values()].filter(({ looks }) => looks >= mostLooks).length
  }

  /** A mirror starts over: what it is shown from here on is compared with all entries. */
  begin(): void {
    this.#shown = new Map()
    this.#logged = new Map()
    this.#loggedTo = 0
    this.#takenTo = 0
    this.lacksEntries = true
  }

  /** There is no log to compare with. */
  giveUp(): void {
    this.#shown = new Map()
  }

  /** A mirror takes a line in place of the profile that it had, as JSON. */
  took(line: Pick<LogLine, 'kind' | 'fid' | 'seq'> & { readonly profile?: unknown }, before: string | undefined): void {
    const { kind, fid, seq } = line
    this.#takenTo = Math.max(this.#takenTo, seq)
    const digest = kind === 'upsert' ? changeDigest(line.profile as Record<string, unknown>) : null
    const known = this.#shown.get(fid)
    const isFirst = this.lacksEntries || known?.isFirst === true
    if (before === undefined || changeDigest(JSON.parse(before)) !== digest)
      this.#shown.set(fid, { seq, digest, isFirst, isMissed: false, looks: known?.looks ?? 0 })
  }

  /** Takes what entries say that were appended. */
  log(said: readonly Json[]): void {
    for (const change of said.map(changeIn)) {
      if (!change) continue
      this.#logged.set(change.fid, [...(this.#logged.get(change.fid) ?? []), change])
      this.#loggedTo = Math.max(this.#loggedTo, change.seq)
    }
  }

  /**
   * Compares what was taken. Returns the FID of an agent whose profile is in no entry, although the log has passed it twice:
   * the lines that came between did not bring another. Undefined: there is none.
   */
  compare(): number | undefined {
    let contradicted: number | undefined
    for (const [fid, shown] of this.#shown) {
      const entries = this.#logged.get(fid) ?? []
      shown.looks++
      const isOld = shown.isFirst && entries.length === 0 && this.#loggedTo >= shown.seq
      // Of the entries up to the line only the last: the others say what the agent was before.
      const since = entries.slice(
        Math.max(
          0,
          entries.findLastIndex(({ seq }) => seq <= shown.seq),
        ),
      )
      if (isOld || since.some(({ digest }) => digest === shown.digest)) this.#shown.delete(fid)
      else if (this.#loggedTo >= shown.seq) {
        if (shown.isMissed) contradicted ??= fid
        shown.isMissed = true
      }
    }
    for (const [fid, entries] of this.#logged) {
      if (this.#shown.has(fid)) continue
      const coming = entries.filter(({ seq }) => seq > this.#takenTo)
      if (coming.length > 0) this.#logged.set(fid, coming)
      else this.#logged.delete(fid)
    }
    return contradicted
  }
}
