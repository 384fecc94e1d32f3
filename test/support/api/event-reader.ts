import { until } from '../until.ts'

/** Reads an event stream, as text and as parsed events. */
export class EventReader {
  text = ''
  #done = false
  readonly #reader: ReadableStreamDefaultReader<string>

  constructor(private readonly answer: Response) {
    this.#reader = (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>)
      .pipeThrough(new TextDecoderStream())
      .getReader()
    void this.#read()
  }

  get headers(): Headers {
    return this.answer.headers
  }

  get events(): { id: string; event: string; data: string }[] {
    return [...this.text.matchAll(/^id: (.+)\nevent: (.+)\ndata: (.+)\n\n/gm)].map(([, id, event, data]) => ({
      id: id as string,
      event: event as string,
      data: data as string,
    }))
  }

  until(holds: (text: string) => boolean): Promise<void> {
    return until('the stream says what it should', () => holds(this.text))
  }

  untilEvents(count: number): Promise<void> {
    return until(`the stream has ${count} events`, () => this.events.length >= count)
  }

  ended(): Promise<void> {
    return until('the stream ends', () => this.#done)
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined)
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read()
        if (done) break
        this.text += value
      }
    } catch {
      // cut off
    }
    this.#done = true
  }
}
