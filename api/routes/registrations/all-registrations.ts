import { z } from 'zod'
import { rowLimits } from '../../../config/limits.ts'
import { type RegistrationFilter, registrationFilters } from '../../../db/queries/registrations/filters.ts'
import { registrationSorts, registrationsPage } from '../../../db/queries/registrations/page.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import {
  addressFilter,
  askable,
  countFilter,
  flagFilter,
  namesFilter,
  numberFilter,
  partFilter,
  textsFilter,
  timeFilter,
} from '../../http/filter-parameters.ts'
import { chainsParameter, integerParameter, wordParameter } from '../../http/parameters.ts'
import { installationOf, json, route } from '../../http/route.ts'
import { allRegistrationsList } from '../../schemas/registrations/registration.ts'

const path = '/api/registrations'

/** The parameter of a filter by its type. */
const parameters = {
  chains: () => chainsParameter,
  terms: namesFilter,
  metadata: textsFilter,
  term: addressFilter,
  flag: flagFilter,
  part: partFilter,
  count: countFilter,
  number: numberFilter,
  time: timeFilter,
} as const

const filters = Object.fromEntries(
  Object.entries(registrationFilters).map(([name, { type, says }]) => [name, parameters[type](says)]),
)

/** Filters that a model is told of; each costs it words, and it may use the others too. */
const told = ['name', 'service', 'skill']

/** GET /api/registrations */
export const allRegistrations = route({
  path,
  operationId: 'listAllRegistrations',
  summary: 'All registrations of all chains, whoever holds them, by filter.',
  query: z.object({
    ...filters,
    sort: wordParameter(
      registrationSorts,
      'updated',
      'Order: by the last event of a registration, or by when it was made.',
    ),
    limit: integerParameter(rowLimits.registrations, 'Rows at most.'),
    cursor: cursorParameter,
  }),
  answer: {
    type: json,
    schema: allRegistrationsList,
    description:
      'The newest first, without those that were burned. A page for which very many registrations would have to be looked ' +
      'at is short, or empty; only a `next_cursor` of null says that nothing follows.',
  },
  errors: ['ERR_NOT_FOUND'],
  tool: {
    name: 'find_registrations',
    use: 'Finds ERC-8004 registrations of any holder, also of those that no account verifies.',
    untold: [...Object.keys(filters).filter((name) => !told.includes(name)), 'sort'],
  },
  maxAgeSeconds: 30,
  freshSeconds: 5,
  async read({ sort, limit, cursor, ...given }, { database, chains, baseUrl }) {
    const list = { name: [path, sort, given], order: ['time', 'word', 'token'] as const }
    const after = readCursor(list, cursor)
    const asked = askable(given)
    const isAnything = Object.values<unknown>(given).every((value) => !Array.isArray(value) || value.length > 0)
    const installation = installationOf({ chains, baseUrl })
    const page =
      asked && isAnything
        ? await registrationsPage(database, {
            filter: asked as unknown as RegistrationFilter,
            sort,
            limit,
            after,
            installation,
          })
        : { rows: '[]', count: 0, next: null }
    const fields = { count: `${page.count}`, registrations: page.rows }
    return pagedBody(list, page, { fields, url: `${baseUrl}${path}`, query: { ...given, sort, limit } })
  },
})
