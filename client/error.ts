/** What the service answered instead of what was asked for. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError'

  constructor(
    /** One of the codes of GET /api/errors; `ERR_UNKNOWN` when the answer was none of the service. */
    readonly code: string,
    readonly status: number,
    /** For people. */
    readonly detail: string | undefined,
    /** What the code carries besides. */
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
