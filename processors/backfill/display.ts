import { MultiBar, Presets, type SingleBar } from 'cli-progress'

/** Progress of one shard. */
export interface ShardProgress {
  readonly firstBlock: number
  readonly lastBlock: number
  nextBlock: number
  /** Settlements loaded in all, and (`added`) in this run. */
  settlements: number
  added: number
  /** Blocks read in this run. */
  blocks: number
  startedAt: number | undefined
}

export interface Display {
  /** Prints a line that stays on the screen. */
  line(text: string): void
  update(): void
  stop(): void
}

const plainEveryMs = 5_000
const barsPerSecond = 4

/** Opens the progress display: bars on a terminal, a line every few seconds elsewhere. */
export function openDisplay(chain: string, shards: readonly ShardProgress[], out: NodeJS.WriteStream): Display {
  return out.isTTY ? openBars(chain, shards, out) : openLines(chain, shards, out)
}

function openBars(chain: string, shards: readonly ShardProgress[], out: NodeJS.WriteStream): Display {
  const multi = new MultiBar(
    {
      format: '{name} {bar} {percentage}% {rate}',
      fps: barsPerSecond,
      stream: out,
      hideCursor: true,
      emptyOnZero: true,
      forceRedraw: true, // a line above pushes bars down that have not changed
    },
    Presets.shades_classic,
  )
  const add = (name: string, total: number): SingleBar => multi.create(total, 0, { name, rate: '' })
  const bars = shards.map(({ firstBlock, lastBlock }) =>
    add(`${chain} ${firstBlock} to ${lastBlock}`, lastBlock - firstBlock + 1),
  )
  const sum = add(`${chain} in all`, blocksOf(shards))
  const update = () => {
    for (const [at, shard] of shards.entries()) {
      bars[at]?.update(shard.nextBlock - shard.firstBlock, { rate: describe([shard]) })
    }
    sum.update(doneOf(shards), { rate: describe(shards) })
  }
  // A signal must not leave the terminal without its cursor.
  const leave = () => {
    multi.update() // prints lines that wait for the next redraw
    multi.stop()
  }
  process.once('exit', leave)
  return {
    line: (text) => multi.log(`${text}\n`),
    update,
    stop() {
      process.off('exit', leave)
      update()
      leave()
    },
  }
}

function openLines(chain: string, shards: readonly ShardProgress[], out: NodeJS.WriteStream): Display {
  const line = (text: string) => void out.write(`${text}\n`)
  const print = () => {
    for (const shard of shards) {
      if (shard.startedAt === undefined || shard.nextBlock > shard.lastBlock) continue
      line(`${chain} ${shard.firstBlock} to ${shard.lastBlock}: ${percent([shard])} %, ${describe([shard])}`)
    }
    line(`${chain} in total: ${percent(shards)} %, ${describe(shards)}`)
  }
  const timer = setInterval(print, plainEveryMs)
  return {
    line,
    update() {},
    stop() {
      clearInterval(timer)
      line(`${chain} in total: ${percent(shards)} %, ${describe(shards)}`)
    },
  }
}

/** `123456 settlements, 60000 rows/s, 12000 blocks/s, 0:12 left` */
function describe(shards: readonly ShardProgress[]): string {
  const starts = shards.flatMap(({ startedAt }) => startedAt ?? [])
  const seconds = starts.length === 0 ? 0 : Math.max((Date.now() - Math.min(...starts)) / 1000, 0.001)
  const sum = (read: (shard: ShardProgress) => number) => shards.reduce((total, shard) => total + read(shard), 0)
  const settlements = sum(({ settlements }) => settlements)
  const blocks = sum(({ blocks }) => blocks)
  if (seconds === 0 || blocks === 0) return `${settlements} settlements`
  const left = ((blocksOf(shards) - doneOf(shards)) * seconds) / blocks
  const rows = Math.round(sum(({ added }) => added) / seconds)
  return `${settlements} settlements, ${rows} rows/s, ${Math.round(blocks / seconds)} blocks/s, ${clock(left)} left`
}

export function percent(shards: readonly ShardProgress[]): string {
  return ((100 * doneOf(shards)) / blocksOf(shards)).toFixed(1)
}

export function blocksOf(shards: readonly ShardProgress[]): number {
  return shards.reduce((sum, { firstBlock, lastBlock }) => sum + lastBlock - firstBlock + 1, 0)
}

export function doneOf(shards: readonly ShardProgress[]): number {
  return shards.reduce((sum, { firstBlock, nextBlock }) => sum + nextBlock - firstBlock, 0)
}

/** Seconds as `m:ss`, from an hour on as `h:mm:ss`. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds)
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor(whole / 60) % 60
  const rest = whole % 60
  const two = (number: number) => String(number).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}
