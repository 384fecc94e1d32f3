/** npm and a terminal both send the Ctrl-C of a person: a second SIGINT within this time is the first one again. */
const echoMs = 500

/**
 * Resolves with the first SIGTERM or SIGINT. A SIGTERM that follows changes nothing: service managers and npm send
 * several, and a process that is stopping would otherwise end in the middle of it. A SIGINT that follows ends the
 * process at once, for a person who is tired of waiting.
 */
export function untilStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stoppingSince: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      const isImpatient = stoppingSince !== undefined && Date.now() - stoppingSince > echoMs
      stoppingSince ??= Date.now()
      resolve(signal)
      if (signal !== 'SIGINT' || !isImpatient) return
      process.off('SIGINT', onSignal)
      process.kill(process.pid, 'SIGINT')
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}
