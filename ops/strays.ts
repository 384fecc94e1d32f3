import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { Counter } from './metrics.ts'

/** A log line of strays at most every so many milliseconds, so that a repeated one cannot fill the disk; all count. */
const tellEveryMs = 1_000

/**
 * Keeps a service up when an error is thrown outside every request and pass: by a socket, a timer or a stream nobody
 * listens to. Such an error is a fault of the program, but a stranger may be able to cause it again at will, and then
 * restarts would not help. It is logged, and counted in `agent_directory_stray_errors_total`, on which an alert stands.
 *
 * Call it once a process is set up: before, such an error ends it, so that a bad start is seen.
 */
export function outliveStrays(log: Logger, registry: Registry): void {
  const strays = new Counter({
    name: 'agent_directory_stray_errors_total',
    help: 'Errors thrown outside every request and pass; the process went on',
    registers: [registry],
  })
  let toldAt = Number.NEGATIVE_INFINITY
  // Promises that nobody handles end up here as well.
  process.on('uncaughtException', (err) => {
    strays.inc()
    if (performance.now() - toldAt < tellEveryMs) return
    toldAt = performance.now()
    log.fatal({ err }, 'an error outside every request and pass: the process goes on')
  })
}
