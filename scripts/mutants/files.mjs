/** Breaks of working folders, and of the tools that change files in them. */
const files = (file) => `src/capabilities/filesystem/${file}.ts`
const unit = (file, name) => ({ project: 'unit', test: `test/unit/capabilities/${file}.test.ts`, name })

export const FILES = [
  // Working folders.
  {
    rule: 'a call of an earlier generation does not enter the folder',
    file: 'src/capabilities/workspaces/enter-folder.ts',
    from: 'if (latest > generation) throw refused(generation, latest)',
    to: '',
    ...unit('workspaces/workspaces', 'a call that comes with an earlier one is refused'),
  },
  {
    rule: 'calls that come in at the same time fill one folder once',
    file: 'src/capabilities/workspaces/enter-folder.ts',
    from: 'making.get(folder) ?? make(folder, fill)',
    to: 'make(folder, fill)',
    ...unit('workspaces/workspaces', 'is made and filled once'),
  },
  {
    rule: 'a folder that is lost comes back as another generation',
    file: 'src/store/sessions/workspace-owners.ts',
    from: 'set host = null, generation = generation + 1, since = now()',
    to: 'set host = null, since = now()',
    project: 'integration',
    test: 'test/integration/workspaces.test.ts',
    name: 'a folder whose host is gone is lost',
  },
  {
    rule: 'each call carries the latest generation of the folder that a call before it has told',
    file: 'src/session/calls.ts',
    from: 'Math.max(workspace, done.workspace ?? 0)',
    to: 'workspace',
    project: 'unit',
    test: 'test/unit/session/workspace.test.ts',
    name: 'each call carries the latest generation',
  },
  // Files.
  {
    rule: 'a file is changed only by a session that has read it',
    file: files('versions'),
    from: 'if (seen === version) return',
    to: 'if (seen === undefined || seen === version) return',
    ...unit('writing', 'is changed only by a session that has read it'),
  },
  {
    rule: 'a file is changed only as it was read',
    file: files('versions'),
    from: 'if (seen === version) return',
    to: 'if (seen !== undefined) return',
    ...unit('writing', 'is changed only by a session that has read it'),
  },
  {
    rule: 'two edits of one file do not run at once',
    file: files('edit'),
    from: 'oneByOne(place.path, () => edit(place, args, ctx))',
    to: 'edit(place, args, ctx)',
    ...unit('writing', 'takes two edits of one round'),
  },
  {
    rule: 'an edit whose worker has died is found out by taking it back',
    file: files('edit'),
    from: 'isMadeOf(seen, file, change) || wasReplaced(file?.text, change)',
    to: 'wasReplaced(file?.text, change)',
    ...unit('writing', 'an edit whose end nobody knows'),
  },
]
