import type { Response } from 'express'
import type { ApiError } from '../http/errors.ts'
import { html } from './parts/html.ts'
import { layout, type Site, searchBox } from './parts/layout.ts'
import { htmlType } from './parts/page.ts'
import { sentence } from './parts/text.ts'

/** Writes the HTML page for an error. */
export function answerProblem(site: Site): (res: Response, error: ApiError) => void {
  return (res, error) => {
    const { status } = error
    const title = titleOf(status)
    // An empty path marks no section of the navigation as the current one.
    const head = { title, description: title, path: '', unlisted: true }
    const reason =
      status >= 500 ? 'It is not your request. Please try again in a minute.' : sentence(`${error.body.detail}`)
    const { retryAfterSeconds } = error.fields
    const [, asked] = /^\/(?:agent|owner)\/([1-9][0-9]{0,15})$/.exec(res.req.path) ?? []
    if (typeof retryAfterSeconds === 'number') res.set('Retry-After', String(retryAfterSeconds))
    res.status(status).set('Cache-Control', 'no-store').type(htmlType)
    res.send(
      layout(
        site,
        head,
        html`<section class="hero"><h1>${title}</h1><p class="lead">${reason}</p>
${
  // After a 429 no links: any other page would be refused as well.
  status !== 429 &&
  html`${searchBox()}
<p>Or see <a href="/">all agents</a>, and <a href="/explain${asked !== undefined && `?q=${asked}`}">${asked === undefined ? 'why one is not listed' : `why FID ${asked} is not listed`}</a>.</p>`
}</section>`,
      ).text,
    )
  }
}

function titleOf(status: number): string {
  if (status >= 500) return 'Something is out of order here'
  return status === 429 ? 'Too many pages in one minute' : 'There is no such page'
}
