/** Breaks of what is seen and reached from outside: the HTTP face, the search, the time line. */
const http = (file) => `src/http/${file}.ts`
const guard = (name) => ({ project: 'unit', test: 'test/unit/http/guard.test.ts', name })
const store = (file) => `src/store/${file}.ts`
const onStore = (file, name) => ({ project: 'store', test: `test/store/${file}.test.ts`, name })

export const OUTSIDE = [
  // The HTTP face.
  {
    rule: 'a server answers only to names that it knows',
    file: http('guard'),
    from: "!known.includes(host) && !known.includes(host.replace(/:\\d+$/, ''))",
    to: '!known.some((name) => host.startsWith(name))',
    ...guard('somebody has pointed that name at this machine'),
  },
  {
    rule: 'a page of another port is a page of another origin',
    file: http('guard'),
    from: "hostOf(origin) !== c.req.header('host')?.toLowerCase()",
    to: "hostOf(origin)?.split(':')[0] !== c.req.header('host')?.split(':')[0]",
    ...guard('is refused, whatever it asks'),
  },
  {
    rule: 'a request that another page sends is refused',
    file: http('guard'),
    from: "(origin !== undefined && hostOf(origin) !== c.req.header('host')?.toLowerCase()) ||",
    to: '',
    ...guard('is refused, whatever it asks'),
  },
  {
    rule: 'a request that the browser calls same-site is refused',
    file: http('guard'),
    from: "(site !== 'none' && site !== 'same-origin')",
    to: "site === 'cross-site'",
    ...guard('a request that the browser calls'),
  },
  {
    rule: 'the beginning of the token is no token',
    file: http('guard'),
    from: 'given !== undefined && isSame(given, token)',
    to: 'given !== undefined && token.startsWith(given)',
    ...guard('on every route'),
  },
  {
    rule: 'no script may stand in the page',
    file: http('guard'),
    from: '"script-src \'self\'"',
    to: "\"script-src 'self' 'unsafe-inline'\"",
    ...guard('forbids what the page does not need'),
  },
  {
    rule: 'nobody may frame the page',
    file: http('guard'),
    from: '"frame-ancestors \'none\'"',
    to: '"frame-ancestors \'self\'"',
    ...guard('forbids what the page does not need'),
  },
  {
    rule: 'what a form of another page can send is no JSON',
    file: http('guard'),
    from: 'type === undefined ? empty : /^application\\/json\\s*(;|$)/i.test(type)',
    to: 'type === undefined ? empty : /json/i.test(type)',
    ...guard('a form or a plain text is no JSON'),
  },
  {
    rule: 'a server that others can reach needs a token',
    file: http('serve-http'),
    from: '!isLoopback(host) && rest.token === undefined',
    to: "host === '0.0.0.0' && rest.token === undefined",
    ...guard('without a token'),
  },
  {
    rule: 'the guard stands before every route',
    file: http('create-http-app'),
    from: "    '/api/*',\n    refuseOtherPages(),",
    to: "    '/api/sessions/*',\n    refuseOtherPages(),",
    ...guard('on every route'),
  },
  // The search.
  {
    rule: 'the search finds nothing that was rewound',
    file: store('transcript/search'),
    from: 'p.gen = 0 and r.gen = 0 or p.gen > 0 and r.gen =',
    to: 'p.gen >= 0 or r.gen =',
    ...onStore('search', 'finds nothing that was rewound'),
  },
  {
    rule: 'the search of a fork ends where it branched',
    file: store('transcript/search'),
    from: 'on r.session_id = p.id and r.seq <= p.seq',
    to: 'on r.session_id = p.id',
    ...onStore('search', 'up to where it branched'),
  },
  {
    rule: 'no text forges a hit of the search',
    file: store('transcript/search'),
    from: "translate(${SAID('h.message')}, '${BEGIN}${END}', '')",
    to: "${SAID('h.message')}",
    ...onStore('search', 'lets no text forge a hit'),
  },
  {
    rule: 'a question of only words that must be missing finds nothing',
    file: store('transcript/search'),
    from: "and querytree(${ASKED}) not in ('', 'T')",
    to: '',
    ...onStore('search', 'and breaks nothing'),
  },
  // The time line.
  {
    rule: 'the time line tells each attempt that was taken over',
    file: store('watching/timeline'),
    from: '...takenOver(told), ',
    to: '',
    ...onStore('timeline', 'is a span of its own'),
  },
  {
    rule: 'attempts that failed without a trace count on the time line',
    file: store('watching/timeline-span'),
    from: 'attempt: nth + 1 + (span.step?.failures ?? 0)',
    to: 'attempt: nth + 1',
    ...onStore('timeline', 'is told as well by the attempt that finds it dead'),
  },
  {
    rule: 'the time line leaves out what was rewound',
    file: store('watching/timeline'),
    from: 'where line.gen = p.gen and coalesce(p.last_seq, 0) <= line.up_to)',
    to: 'where line.gen = p.gen)',
    ...onStore('timeline', 'leaves out what was rewound'),
  },
  {
    rule: 'a step that nobody has in hand has no span',
    file: store('watching/timeline'),
    from: 'if (!settled && (owner === null || waiting) && !awaits) return []',
    to: '',
    ...onStore('timeline', 'shows how steps have ended'),
  },
  // A workflow that was lost before it had done what it was told.
  ...[
    ['stops the turn', '...(stops && { stops }),'],
    ['pauses the session', '...(pauses && { pauses }),'],
    ['closes the session', '...(closes && { closes }),'],
  ].map(([what, from]) => ({
    rule: `recover ${what}, if the lost workflow had been told so`,
    file: 'src/client/recover-session.ts',
    from,
    to: '',
    project: 'operations',
    test: 'test/integration/operator-orders.test.ts',
  })),
  {
    rule: 'the orders of a workflow that ended by itself were carried out',
    file: 'src/client/recover-session.ts',
    from: "found?.status.name === 'COMPLETED' ? {} : given",
    to: 'given',
    project: 'operations',
    test: 'test/integration/operator-orders.test.ts',
  },
  {
    rule: 'a stop that another turn has followed was carried out',
    file: 'src/client/taken-messages.ts',
    from: ' || opened.slice(at).some((messageId) => messageId !== undefined)',
    to: '',
    project: 'unit',
    test: 'test/unit/client/taken-messages.test.ts',
  },
  {
    rule: 'a session whose workflow was never started is not called lost',
    file: 'src/client/reach-session.ts',
    from: 'if (wasOpened) throw',
    to: 'if (wasOpened || performance.now() > until) throw',
    project: 'operations',
    test: 'test/integration/just-started.test.ts',
  },
  {
    rule: 'a next page that does not come is given up',
    file: 'src/capabilities/browser/leaving.ts',
    from: "await session.send('Page.stopLoading')",
    to: '',
    project: 'unit',
    test: 'test/unit/capabilities/browser/pages-that-do-not-come.test.ts',
  },
]
