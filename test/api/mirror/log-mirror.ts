import { logLine } from '../../../api/routes/mirror/log.ts'

/** What a mirror keeps between its runs. */
interface Kept {
  readonly epoch: string
  readonly seq: number
  readonly agents: readonly (readonly [fid: number, profile: unknown])[]
}

type Read = (path: string) => Promise<Response>

/**
 * Somebody who mirrors the profiles from /data/log.ndjson alone. What it has can be written down after every line and
 * read back by another process; a line that is cut off is not used.
 */
export class LogMirror {
  readonly agents = new Map<number, unknown>()
  /** Of the database; empty before the first answer. */
  epoch = ''
  seq = 0

  constructor(
    private readonly read: Read,
    private readonly limit = 1_000,
  ) {}

  /** One page; how many lines it had. A mirror of another database, or of one taken back, begins anew. */
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

  /** A process that goes on where this one was ended. */
  restarted(): LogMirror {
    const kept: Kept = JSON.parse(JSON.stringify({ epoch: this.epoch, seq: this.seq, agents: [...this.agents] }))
    return LogMirror.from(kept, this.read, this.limit)
  }

  /** One that begins with what a snapshot holds. */
  static from({ epoch, seq, agents }: Kept, read: Read, limit = 1_000): LogMirror {
    const mirror = new LogMirror(read, limit)
    mirror.epoch = epoch
    mirror.seq = seq
    for (const [fid, profile] of agents) mirror.agents.set(fid, profile)
    return mirror
  }
}
