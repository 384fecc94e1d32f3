import { isPassing, Patience, SourceFailure, type SourceWatch } from '../source-failures.ts'
import type { SdkArchive } from './sdk.ts'

interface PatientArchiveOptions {
  readonly log: { warn(text: string): void }
  readonly watch: SourceWatch
}

/**
 * The SDK's archive client, which itself waits out failures of the connection and some statuses. Here every status is
 * waited out that says that the archive cannot answer now, as at the other sources.
 */
export class PatientArchive implements SdkArchive {
  constructor(
    private readonly archive: SdkArchive,
    private readonly options: PatientArchiveOptions,
  ) {}

  getHeight(): Promise<number> {
    return this.#patiently(() => this.archive.getHeight())
  }

  query(query: object) {
    return this.#patiently(() => this.archive.query(query))
  }

  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const { log, watch } = this.options
    const patience = new Patience(log, 'the archive', watch)
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        const { message, response } = error as Error & { readonly response?: { readonly status: number } }
        if (!isPassing(response?.status ?? 0)) throw error
        await patience.afterFailure(new SourceFailure(message))
      }
    }
  }
}
