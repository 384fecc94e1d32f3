import { coverage } from '../../../api/schemas/log/coverage.ts'
import { readChains } from '../../../config/chains.file.ts'
import { startApi } from '../../support/api/api.ts'
import type { TestDatabase } from '../../support/database.ts'

/** Entry of Base in /api/coverage of an installation; `file`: content of its CHAINS_FILE. */
export async function publishedCoverage(database: TestDatabase, file: object) {
  const api = await startApi(database, { chains: readChains({ env: {}, file }) })
  try {
    const { chains } = coverage.parse(await (await api.get('/api/coverage')).json())
    return chains.find(({ chain }) => chain === 'base')!
  } finally {
    await api.stop()
  }
}
