/** A refusal or failure that the service answered. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError'

  constructor(
    /** One of the codes of GET /api/errors; `ERR_UNKNOWN` when the answer is not the service's, but a proxy's, say. */
    readonly code: string,
    readonly status: number,
    /** Explanation for people; undefined: the answer has none. */
    readonly detail: string | undefined,
    /** Further fields of the error's body, specific to the code. */
    readonly fields: Readonly<Record<string, unknown>>,
  ) {
    super(`${status} ${code}${detail === undefined ? '' : `: ${detail}`}`)
  }

  static of(status: number, body: string): DirectoryError {
    try {
      const { error, detail, ...fields } = JSON.parse(body)
      if (typeof error === 'string') return new DirectoryError(error, status, detail, fields)
    } catch {
      // not of the service: a proxy on the way, perhaps
    }
    return new DirectoryError('ERR_UNKNOWN', status, undefined, {})
  }
}
