import { boundedFailures, Retries, retrying } from '../../hosts/retries.ts'

/** Whether the database stops, starts, takes no more connections or cannot be reached. */
export function isUnreachable(error: unknown): boolean {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (/^(57P0[123]|53300|08...|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(code)) return true
  return /connection (terminated|error)|timeout (expired|exceeded)|not queryable/i.test(message)
}

/**
 * Does work on the database, again while it cannot be reached and `mayRepeat`. Rejects with any other failure at once, and
 * with a SourceFailure when it stays out of reach for about a minute.
 */
export function untilReached<T>(
  log: { warn(text: string): void },
  work: () => Promise<T>,
  mayRepeat: () => boolean = () => true,
): Promise<T> {
  const retries = new Retries(log, { source: 'the database', attempts: boundedFailures })
  return retrying(retries, work, (error) => isUnreachable(error) && mayRepeat())
}
