interface Service {
  readonly serviceName: string
  /** Address of the service's site, where a host's operator finds out who asks. */
  readonly siteUrl: string
}

/** The User-Agent header of requests to hosts that strangers name. */
export function userAgentOf({ serviceName, siteUrl }: Service): string {
  return `${serviceName}/1.0 (+${siteUrl})`
}
