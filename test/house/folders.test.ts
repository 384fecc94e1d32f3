import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { listFiles } from '../support/source-files.ts'

/** Most files directly in a folder: as many as a reader takes in at a glance. */
const mostFiles = 20
/** Folders with more, how many, and why. */
const larger: Record<string, { files: number; why: string }> = {
  '.': {
    files: 32,
    why: 'tools look for their files there; beside them stand the tables of chains, limits, payments, sources and settings',
  },
  'api/http': { files: 21, why: 'what every route shares' },
}

test('no folder has more files of one level than one look takes in', () => {
  const counts = new Map<string, number>()
  for (const path of listFiles().filter((one) => !isData(one))) {
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  }
  const wrong = [...counts].filter(([folder, files]) => files > (larger[folder]?.files ?? mostFiles))
  expect(wrong).toEqual([])
})

/** Whether a file is exempt: recordings, generated files and migrations are looked up by name. */
function isData(path: string): boolean {
  return /^(test\/fixtures|db\/migrations|db\/model)\//.test(path) || path.includes('/generated/')
}
