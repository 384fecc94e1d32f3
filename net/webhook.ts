import type { Door, FetchOptions } from './door.ts'
import { DoorError } from './errors.ts'

/** What came of a message to an endpoint. */
interface Posted {
  /** `ok`, or a word for what was wrong: nothing of the answer is shown to anybody. Null: nobody was asked. */
  readonly outcome: string | null
  /** Of an answer. */
  readonly status?: number
  readonly retryAfter?: string | undefined
  /** What was read of the body. */
  readonly text: string
  readonly elapsedMs: number
}

/** Posts a message to an endpoint that somebody else named. `maxBytes`: of its answer; 0: its body is not read. */
export async function postMessage(
  door: Pick<Door, 'fetch'>,
  url: string,
  options: Pick<FetchOptions, 'body' | 'headers' | 'maxBytes' | 'timeoutMs'>,
): Promise<Posted> {
  const begun = performance.now()
  try {
    const { status, headers, body, elapsedMs } = await door.fetch(url, { ...options, method: 'POST' })
    const isOk = status >= 200 && status < 300
    return {
      outcome: isOk ? 'ok' : `http_${Math.floor(status / 100)}xx`,
      status,
      retryAfter: headers.get('retry-after'),
      text: body.toString(),
      elapsedMs,
    }
  } catch (error) {
    if (!(error instanceof DoorError)) throw error
    return { outcome: error.checkStatus, text: '', elapsedMs: performance.now() - begun }
  }
}
