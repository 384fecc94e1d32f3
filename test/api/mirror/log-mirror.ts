import { logLine } from '../../../api/routes/log/log.ts'

/** What a mirror keeps between its runs. */
interface Kept {
  readonly epoch: string
  readonly seq: number
  readonly agents: readonly (readonly [fid: number, profile: unknown])[]
}

type Read = (path: string) => Promise<Response>

/**
 * A client that mirrors the profiles from /data/log.ndjson alone. Its state can be saved after every line and read back
 * by another process; a last line that is cut off is ignored.
 */
export class LogMirror {
  readonly agents = new Map<number, unknown>()
  /** Epoch of the database's log; empty before the first answer. */
  epoch = ''
  seq = 0

  constructor(
    private readonly read: Read,
    private readonly limit = 1_000,
  ) {}

  /** Applies one page; returns its number of lines. On a 404 (another database, or a restored one) it starts again. */
  async pull(cutAt = Number.POSITIVE_INFINITY): Promise<number> {
    const since = this.epoch === '' ? '0' : `${this.epoch.slice(0, 8)}-${this.seq}`
    const answer = await this.read(`/data/log.ndjson?since=${since}&limit=${this.limit}`)
    if (answer.status === 404) {
      this.agents.clear()
      this.epoch = ''
      this.seq = 0
      return this.pull(cutAt)
    }
    if (answer.status !== 200) throw new Error(`the log answers ${answer.status}`)
    this.epoch = answer.headers.get('x-log-epoch') ?? ''
    const lines = (await answer.text()).slice(0, cutAt).split('\n').slice(0, -1)
    for (const text of lines) {
      const line = logLine.parse(JSON.parse(text))
      if (line.seq <= this.seq) throw new Error(`number ${line.seq} comes after ${this.seq}`)
      this.seq = line.seq
      if (line.kind === 'upsert') this.agents.set(line.fid, line.profile)
      else this.agents.delete(line.fid)
    }
    return lines.length
  }

  async catchUp(): Promise<void> {
    while ((await this.pull()) > 0);
  }

  /** The mirror of another process, which reads back the state of this one. */
  restarted(): LogMirror {
    const kept: Kept = JSON.parse(JSON.stringify({ epoch: this.epoch, seq: this.seq, agents: [...this.agents] }))
    return LogMirror.from(kept, this.read, this.limit)
  }

  /** A mirror that starts from the state in a snapshot. */
  static from({ epoch, seq, agents }: Kept, read: Read, limit = 1_000): LogMirror {
    const mirror = new LogMirror(read, limit)
    mirror.epoch = epoch
    mirror.seq = seq
    for (const [fid, profile] of agents) mirror.agents.set(fid, profile)
    return mirror
  }
}
