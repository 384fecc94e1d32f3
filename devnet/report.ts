/** Progress of the start, shown to a person at the terminal. */
interface Report {
  say(line: string): void
  /** Reports that a step is done, with the time it took. */
  stage(name: string, detail: string): void
  /** Reports that `share` of a step, 0 to 1, is done. Shown every few seconds, with an estimate of the time left. */
  progress(name: string, share: number, detail?: string): void
}

const progressMs = 2_000
/** Share that must be done before the time left is estimated. */
const smallestShare = 0.1

export function createReport(say: (line: string) => void, now: () => number = Date.now): Report {
  let stageStart = now()
  let lastShown = stageStart
  const line = (name: string, text: string) => say(`  ${name.padEnd(10)}${text}`)
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  return {
    say,
    stage(name, detail) {
      line(name, `${detail} (${seconds(now() - stageStart)} s)`)
      stageStart = now()
      lastShown = stageStart
    },
    progress(name, share, detail = '') {
      if (now() - lastShown < progressMs) return
      lastShown = now()
      const elapsed = now() - stageStart
      const left =
        share >= smallestShare && share < 1 ? `, about ${Math.ceil((elapsed * (1 - share)) / share / 1000)} s left` : ''
      line(name, `${Math.floor(share * 100)} %${left}${detail && `, ${detail}`}`)
    },
  }
}
