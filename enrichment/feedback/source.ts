import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import { forgetFile, readFeedbackUri, storeFile } from '../../db/queries/feedback/files.ts'
import type { Host } from '../../hosts/host.ts'
import type { ReadContent } from '../agent-uri/content.ts'
import type { Reading, Source } from '../schedule/source.ts'
import { hashStateOf, jsonOf, toFeedbackFile } from './feedback-file.ts'

interface FeedbackFilesOptions {
  readonly pool: pg.Pool
  readonly host: Host
  readonly readContent: ReadContent
  readonly now: () => Date
}

/**
 * Reads the files that feedback names, each until it was read once: feedback never changes. What such a file says is stored
 * as what it says, and believed nowhere without a row of ours.
 */
export function feedbackFiles({ pool, host, readContent, now }: FeedbackFilesOptions): Source {
  return {
    ...sources.feedbackFiles,
    host,

    async read([subject]): Promise<Reading> {
      const id = subject!.subject.slice(subject!.subject.indexOf(':') + 1)
      const feedback = await readFeedbackUri(pool, id)
      if (!feedback) return { outcome: 'gone', write: (db) => forgetFile(db, id).then(() => undefined) }
      const content = await readContent(feedback.uri)
      const failed = content.status === 'failed' || content.status === 'unchanged'
      const found = content.status === 'found' ? judged(content.bytes, feedback) : undefined
      const status =
        found?.status ??
        (content.status === 'failed' ? content.word : content.status === 'nothing' ? content.why : 'invalid')
      return {
        outcome: status,
        failed,
        async write(db) {
          await storeFile(db, {
            id,
            uri: feedback.uri,
            status,
            hash: found?.hash ?? null,
            payment: found?.payment ?? null,
            now: now(),
          })
          return failed ? 0 : undefined
        },
      }
    },
  }
}

function judged(bytes: Uint8Array, feedback: Parameters<typeof toFeedbackFile>[1]) {
  const value = jsonOf(bytes)
  const hash = hashStateOf(bytes, value, feedback)
  const file = toFeedbackFile(value, feedback)
  if (!file) return { status: 'invalid', hash, payment: null } as const
  return { status: file.isForeign ? 'foreign' : 'ok', hash, payment: file.payment } as const
}
