/**
 * Resolves with the first SIGTERM or SIGINT. Those that follow change nothing: service managers and npm send several, and
 * a process that is stopping would otherwise end in the middle of it.
 */
export function untilStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve)
    process.on('SIGINT', resolve)
  })
}
