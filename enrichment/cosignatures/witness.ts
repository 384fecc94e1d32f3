import { createJsonHost, type Received } from '../../hosts/json-host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { cosignedBy, withCosignature } from '../../transparency/cosignature.ts'
import { keyTypes, type NoteSignature, parseKey, signatureIn } from '../../transparency/note.ts'

/** Answers of a witness whose log is another than this one: it has seen more entries, or another tree of one size. */
export const contradictions = ['knows_more', 'fork'] as const

/** A witness of the transparency log, as the settings name it. */
export interface LogWitness {
  /** Name, id and public key: C2SP tlog-cosignature, type 4. */
  readonly key: string
  /** Where `add-checkpoint` is. */
  readonly url: string
}

interface Submission {
  readonly note: string
  /** Entries of its tree. */
  readonly size: number
  /** Hashes that show that the tree goes on from one with so many entries. */
  readonly proofFrom: (before: number) => Promise<readonly Buffer[]>
}

/** Sends checkpoints to a witness. */
export interface WitnessClient extends LogWitness {
  /** The witness's cosignature on a checkpoint; or, as a word for the operator, why there is none. */
  cosign(submission: Submission): Promise<NoteSignature | string>
  close(): Promise<void>
}

/** A client of C2SP tlog-witness. It keeps in mind which tree the witness knows. */
export function createLogWitness({ key, url }: LogWitness): WitnessClient {
  const host = createJsonHost({ url, name: new URL(url).host })
  let known = 0

  const send = async ({ note, proofFrom }: Submission) => {
    const hashes = (await proofFrom(known)).map((hash) => `${hash.toString('base64')}\n`).join('')
    return host.send({ path: '/add-checkpoint', text: `old ${known}\n${hashes}\n${note}` })
  }

  return {
    key,
    url,
    async cosign(submission) {
      try {
        if (known > submission.size) known = 0 // of another log, or of one that lost entries: the witness will say
        let answer = await send(submission)
        if (answer.status === 409) {
          known = sizeIn(answer) ?? known
          if (known > submission.size) return 'knows_more' // entries that it has seen are lost
          answer = await send(submission)
        }
        if (answer.status === 409 && sizeIn(answer) === known) return 'fork' // it has seen another tree of this size
        if (answer.status !== 200) return `http_${answer.status}`
        known = submission.size
        return cosignatureIn(answer.text, submission.note, key) ?? 'bad_answer'
      } catch (error) {
        if (error instanceof NoAnswer) return error.failure
        throw error
      }
    },
    close: () => host.close(),
  }
}

/** The size that a 409 tells. Undefined: it tells none. */
function sizeIn({ text }: Received): number | undefined {
  return /^(0|[1-9]\d{0,15})\n?$/.test(text) ? Number(text) : undefined
}

/** The signature of a witness in its answer, verified. Undefined: there is none that holds. */
function cosignatureIn(text: string, note: string, key: string): NoteSignature | undefined {
  try {
    const { name, id } = parseKey(key, keyTypes.cosignature)
    const lines = text.split('\n').filter((line) => line !== '')
    const own = lines.map(signatureIn).find((one) => one.name === name && one.id.equals(id))
    return own && cosignedBy(withCosignature(note, own), key) ? own : undefined
  } catch {
    return undefined
  }
}
