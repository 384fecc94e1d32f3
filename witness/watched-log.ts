import { parseCheckpoint } from '../transparency/checkpoint.ts'
import type { Cosigner } from '../transparency/cosignature.ts'
import { checkpointOf, followLog, LogFork, type SignedCheckpoint } from '../transparency/follow.ts'
import { keepFollowed, keepFork } from '../transparency/fork-evidence.ts'
import type { ReadLogFile } from '../transparency/log-files.ts'
import { type LogMemory, logMemory } from '../transparency/log-memory.ts'
import { aloneSigned, partsOf } from '../transparency/note.ts'
import { isConsistent } from '../transparency/proofs.ts'

/** What a witness says to a checkpoint that is sent to it, with the status of the answer: C2SP tlog-witness. */
interface Verdict {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422
  /** Of a 200 the cosignature, of a 409 the size of the last tree, else what is wrong. */
  readonly text: string
}

interface WatchedLogOptions {
  /** Where the last checkpoint is kept; both sides of a contradiction are kept next to it. */
  readonly path: string
  readonly cosigner: Cosigner
  /** Gives the log's files, and waits until no cache has an earlier checkpoint. */
  readonly log: { readonly readFile: ReadLogFile; readonly wait: () => Promise<void> }
  readonly now: () => Date
}

/**
 * A log as a witness knows it: the last checkpoint that goes on from all that it was shown before. What contradicts that is
 * kept, and nothing is cosigned until the log shows what goes on from there again.
 */
export class WatchedLog {
  readonly #memory: LogMemory
  readonly #options: WatchedLogOptions
  /** What contradicts the last checkpoint; undefined: nothing. */
  #contradiction: string | undefined

  constructor(options: WatchedLogOptions) {
    this.#options = options
    this.#memory = logMemory(options.path)
  }

  /** What was kept last. Undefined: nothing yet. */
  get known() {
    return this.#memory.read()
  }

  /** Begins to watch a log, at what it shows to who knows nothing of it. */
  begin(shown: SignedCheckpoint): void {
    this.#memory.write(aloneIn(shown))
  }

  /**
   * Follows the log to its newest checkpoint, reading all entries. Gives what an operator has to be told, in words. Rejects
   * when the log contradicts what is known, and with what `readFile` rejects with.
   */
  async look(): Promise<readonly string[]> {
    const known = this.#begun()
    try {
      const followed = await followLog(known, this.#options.log)
      this.#contradiction = undefined
      // A later checkpoint may have been sent meanwhile; the next look finds out whether the log shows it, too.
      if (this.#begun().note !== known.note) return followed.changes
      return keepFollowed({ ...followed, signed: aloneIn(followed.signed) }, this.#options.path)
    } catch (error) {
      throw error instanceof LogFork ? this.#refuse(error) : error
    }
  }

  /** The cosignature of the last checkpoint, as of now. Undefined: the log contradicts it. */
  cosigned(): { readonly origin: string; readonly note: string; readonly line: string } | undefined {
    if (this.#contradiction !== undefined) return undefined
    const { origin, note } = this.#begun()
    return { origin, note, line: this.#cosign(note) }
  }

  /** Judges a request of C2SP tlog-witness, `add-checkpoint`. What is cosigned is kept before. */
  judge(body: string): Verdict {
    const [, old = '', lines = '', note = ''] = form.exec(body) ?? []
    const said = saidIn(note)
    if (!said) return { status: 400, text: 'old SIZE, lines of a proof, an empty line and a checkpoint were expected' }
    const known = this.#begun()
    if (said.origin !== known.origin) return { status: 404, text: `this witness watches ${known.origin}` }
    const { key } = known
    const now = checkpointOf({ note, key })
    if (!now) return { status: 403, text: `the checkpoint is not signed with ${key}` }
    if (this.#contradiction !== undefined) return { status: 422, text: this.#contradiction }
    if (Number(old) > now.size) return { status: 400, text: 'the old size is above that of the checkpoint' }
    if (Number(old) !== known.size) return { status: 409, text: String(known.size) }
    const proof = lines.split('\n').slice(0, -1)
    const hashes = proof.map((line) => Buffer.from(line, 'base64'))
    if (isConsistent(known, now, hashes)) {
      // Of one size, so one root: anybody may send again what is kept, and each write has to reach the disk.
      if (now.size > known.size) this.#memory.write(aloneIn({ note, key }))
      return { status: 200, text: this.#cosign(note) }
    }
    // Whoever sends a proof may have made it up: of trees of one size only two roots accuse the log.
    if (now.size > known.size || Buffer.compare(now.root, known.root) === 0)
      return { status: 422, text: 'the proof does not show that the log goes on from there' }
    this.#refuse(new LogFork(`has signed two trees of ${known.size} entries`, known, aloneIn({ note, key })))
    return { status: 409, text: String(known.size) }
  }

  #begun() {
    const { known } = this
    if (!known) throw new Error('the log is not watched yet')
    return known
  }

  #refuse(fork: LogFork): Error {
    const kept = keepFork(fork, this.#options.path)
    this.#contradiction = kept.message
    return kept
  }

  #cosign(note: string): string {
    const { cosigner, now } = this.#options
    return cosigner.cosign(partsOf(note).text, Math.floor(now().getTime() / 1_000))
  }
}

/** A checkpoint without lines of others, which whoever sends it can add: with the witness's own line it stays readable. */
const aloneIn = ({ note, key }: SignedCheckpoint): SignedCheckpoint => ({ note: aloneSigned(note, key), key })

/** Size of the tree before, at most 63 hashes, an empty line, and a note. */
const form = /^old (0|[1-9]\d{0,15})\n((?:[A-Za-z0-9+/]{43}=\n){0,63})\n([\s\S]+)$/

/** What a note says, whoever signed it. Undefined: it is no checkpoint. */
function saidIn(note: string) {
  try {
    return parseCheckpoint(partsOf(note).text)
  } catch {
    return undefined
  }
}
