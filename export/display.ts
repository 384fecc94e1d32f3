import { Presets, SingleBar } from 'cli-progress'

/** Progress of an export, shown to the operator. */
export interface Display {
  /** `rows`: rows exported so far, those of earlier runs included. */
  update(rows: number): void
  stop(): void
}

const plainEveryMs = 5_000
const barsPerSecond = 4

/**
 * A progress bar on a terminal, a line every few seconds elsewhere. `expected` is an estimate of all rows; the total
 * grows when there are more.
 */
export function openDisplay(
  what: string,
  { rows, expected }: { rows: number; expected: number },
  out: NodeJS.WriteStream,
): Display {
  return out.isTTY ? openBar(what, rows, expected, out) : openLines(what, rows, expected, out)
}

function openBar(what: string, begun: number, expected: number, out: NodeJS.WriteStream): Display {
  const format = `${what} {bar} {value} of about {total} rows, {eta_formatted} to go`
  const bar = new SingleBar({ format, fps: barsPerSecond, stream: out, hideCursor: true }, Presets.shades_classic)
  let total = Math.max(begun, expected)
  bar.start(total, begun)
  return {
    update(rows) {
      if (rows > total) {
        total = rows
        bar.setTotal(total)
      }
      bar.update(rows)
    },
    stop: () => bar.stop(),
  }
}

function openLines(what: string, begun: number, expected: number, out: NodeJS.WriteStream): Display {
  let done = begun
  const print = () => out.write(`${what}: ${done} of about ${Math.max(done, expected)} rows\n`)
  const timer = setInterval(print, plainEveryMs)
  return {
    update(rows) {
      done = rows
    },
    stop: () => clearInterval(timer),
  }
}
