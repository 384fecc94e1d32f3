import { JsonProblem, parseStrictJson } from '../../trust/strict-json.ts'
import { invalidRequest } from '../http/errors.ts'

/** The JSON in the bytes of a body; anything but bytes counts as an empty body. Throws ERR_PAYLOAD_INVALID. */
export function readJsonBody(bytes: unknown): unknown {
  try {
    return parseStrictJson(bytes instanceof Uint8Array ? bytes : new Uint8Array())
  } catch (error) {
    if (error instanceof JsonProblem) throw invalidRequest('body', error.message)
    throw error
  }
}
