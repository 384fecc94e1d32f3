import { z } from 'zod'
import { documentLimits, queryLimits } from '../../../config/limits.ts'
import { type DirectoryEvent, eventsUpTo, newestEvent } from '../../../db/queries/log/directory-events.ts'
import { toEventEntry } from '../../feed/event-entry.ts'
import { writtenFeed } from '../../feed/listed.ts'
import { type Route, route, type Sources } from '../../http/route.ts'

const path = '/feed/events.atom'
const { archiveEvents } = documentLimits
const atom = 'application/atom+xml; charset=utf-8'

const archivePath = (number: number) => `/feed/events/${number}.atom`

/** GET /feed/events.atom */
export const eventsFeed: Route = route({
  path,
  operationId: 'getEventsFeed',
  summary: 'What became of agents: listed, claimed, gone, as an Atom feed with archives.',
  answer: {
    type: atom,
    schema: z.string(),
    description:
      `The ${archiveEvents} newest events, newest first. Those before are in archives (RFC 5005), which the links ` +
      '`prev-archive` lead to; an entry is never altered, except that it loses the handle of an account that left by ' +
      'itself, until that returns.',
  },
  maxAgeSeconds: 300,
  freshSeconds: 30,
  async read(_input, sources) {
    const newest = await newestEvent(sources.database)
    const events = await eventsUpTo(sources.database, { last: newest, after: 0, limit: archiveEvents })
    const archives = Math.floor(newest / archiveEvents)
    return written(events, sources, path, { ...(archives > 0 && { 'prev-archive': archivePath(archives) }) })
  },
})

/** GET /feed/events/:number.atom */
export const eventsArchive: Route = route({
  path: '/feed/events/{number}.atom',
  operationId: 'getEventsArchive',
  summary: 'An archive of that feed, whose events never change.',
  params: z.object({
    number: z
      .string()
      .transform((text) => (/^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : null))
      .meta({ description: 'From 1, the oldest.', override: { type: 'integer', minimum: 1 } }),
  }),
  answer: {
    type: atom,
    schema: z.string(),
    description: `The events whose numbers make up the archive, ${archiveEvents} at most, newest first.`,
  },
  errors: ['ERR_NOT_FOUND'],
  maxAgeSeconds: 300,
  freshSeconds: 300,
  missing: 'there is no such archive yet',
  async read({ number }, sources) {
    if (number === null || number > queryLimits.lastPage) return undefined
    const archives = Math.floor((await newestEvent(sources.database)) / archiveEvents)
    if (number > archives) return undefined
    const last = number * archiveEvents
    const events = await eventsUpTo(sources.database, { last, after: last - archiveEvents, limit: archiveEvents })
    const pages = {
      ...(number > 1 && { 'prev-archive': archivePath(number - 1) }),
      ...(number < archives && { 'next-archive': archivePath(number + 1) }),
      current: path,
    }
    return written(events, sources, archivePath(number), pages, true)
  },
})

function written(
  events: readonly DirectoryEvent[],
  { baseUrl, siteUrl, serviceName, leftOut }: Sources,
  self: string,
  pages: Readonly<Record<string, string>>,
  isArchive = false,
): string {
  const links = Object.fromEntries(Object.entries(pages).map(([rel, to]) => [rel, baseUrl + to]))
  const options = {
    title: `${serviceName}: what became of agents`,
    id: baseUrl + path,
    feedUrl: baseUrl + self,
    siteUrl,
    pages: links,
    isArchive,
  }
  const rows = events.map((event) => ({ fid: event.fid, entry: () => toEventEntry(event, siteUrl) }))
  return writtenFeed(rows, options, leftOut)
}
