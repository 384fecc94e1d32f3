import { expect, test } from 'vitest'
import { readSources } from '../support/source-files.ts'

/** Makes pages of docs/ of the table alone. */
const exceptFor = ['db/contract/main.ts']

test('a main that opens a database knows the chains of CHAINS_FILE: an embedded one is migrated then', async () => {
  const mains = (await readSources()).filter(
    ({ path, text }) =>
      path.endsWith('main.ts') && !/^(test|bench)\//.test(path) && /\b(openDatabase|runHttp)\(/.test(text),
  )
  expect(mains.length).toBeGreaterThan(6)
  const ignorant = mains.filter(({ text }) => !text.includes('openChainsFile(')).map(({ path }) => path)
  expect(ignorant).toEqual(exceptFor)
})
