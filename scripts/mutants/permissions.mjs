/** Breaks of permissions. `breaks.mjs` says what a break is. */
const room = (file) => `src/permissions/${file}.ts`
const tool = (file) => `src/activities/tool/${file}.ts`
const unit = (file) => ({ project: 'unit', test: `test/unit/permissions/${file}.test.ts` })
const approval = { project: 'store', test: 'test/store/approval.test.ts' }

export const PERMISSIONS = [
  {
    rule: 'a deny rule wins',
    file: room('decide'),
    from: "if (denied) return { decision: 'deny', rule: denied.text, parts }",
    to: '',
    ...unit('decide'),
  },
  {
    rule: 'plan mode runs only what changes nothing',
    file: room('decide'),
    from: "if (mode === 'plan' && !harmless) return { decision: 'deny', parts }",
    to: '',
    ...unit('decide'),
  },
  {
    rule: 'an ask rule wins over the mode and allow rules',
    file: room('decide'),
    from: "if (asked) return { decision: 'ask', rule: asked.text, parts }",
    to: '',
    ...unit('decide'),
  },
  {
    rule: 'what could not be taken apart may hide what a rule speaks of',
    file: room('decide'),
    from: "if (hidden) return { decision: 'ask', parts }",
    to: '',
    ...unit('decide'),
  },
  {
    rule: 'one denied part denies the call',
    file: room('decide'),
    from: "const STRICTEST: readonly Decided[] = ['deny', 'ask', 'allow']",
    to: "const STRICTEST: readonly Decided[] = ['allow', 'ask', 'deny']",
    ...unit('decide'),
  },
  {
    rule: 'every layer that states what is allowed must allow it',
    file: room('decide'),
    from: 'found.every((rule) => rule !== undefined) ? found.at(-1) : undefined',
    to: 'found.find((rule) => rule !== undefined)',
    ...unit('decide'),
  },
  {
    rule: 'the first layer allows nothing that it does not state',
    file: room('decide'),
    from: 'const lists = [[...kept, ...(first?.allow ?? [])], ...below',
    to: 'const lists = [...(first?.allow || kept.length > 0 ? [[...kept, ...(first?.allow ?? [])]] : []), ...below',
    ...unit('decide'),
  },
  {
    rule: 'what is kept widens no list of a profile',
    file: room('decide'),
    from: 'below.flatMap(({ allow }) => (allow ? [allow] : []))',
    to: 'below.flatMap(({ allow }) => (allow ? [[...kept, ...allow]] : []))',
    ...unit('decide'),
  },
  {
    rule: 'where nobody is asked, what would be asked is denied',
    file: room('decide'),
    from: "mode === 'dontAsk' && verdict.decision === 'ask' ?",
    to: 'false ?',
    ...unit('decide'),
  },
  {
    rule: 'a command without * is exactly that command',
    file: room('match-command'),
    from: ': words.length === wanted.length',
    to: ': true',
    ...unit('rules'),
  },
  {
    rule: 'a wrapper hides no denied program',
    file: room('match-command'),
    from: 'WRAPPERS.has(name) ? argv.map((_, at) => at) : [0]',
    to: '[0]',
    ...unit('rules'),
  },
  {
    rule: 'an allowed path is not taken for one elsewhere',
    file: room('match-path'),
    from: "return doubt === 'wide' && covers(",
    to: 'return covers(',
    ...unit('rules'),
  },
  {
    rule: 'a domain ends at a dot',
    file: room('match-url'),
    from: 'host.endsWith(`.${domain}`)',
    to: 'host.endsWith(domain)',
    ...unit('rules'),
  },
  {
    rule: 'a suggested rule is as narrow as what was shown',
    file: room('suggest'),
    from: '/\\*\\s*$/.test(touch.command) || isOpen(touch) ? undefined : `${tool}(${touch.command.trim()})`',
    to: '`${tool}(${touch.command.trim()})`',
    ...unit('decide'),
  },
  {
    rule: 'an approval is for what was shown',
    file: tool('call-permit'),
    from: 'approved === hash',
    to: 'approved !== undefined',
    ...approval,
    name: 'an approval is for what was shown',
  },
]
