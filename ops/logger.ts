import { type Logger, pino } from 'pino'

/** JSON lines on standard output, one a message, with the name of the process. */
export function createLogger(name: string, level = 'info'): Logger {
  return pino({ name, level, base: { name }, timestamp: pino.stdTimeFunctions.isoTime })
}
