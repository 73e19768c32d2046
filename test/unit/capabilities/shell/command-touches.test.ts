/** What shell commands will touch, as found before they run. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { touchesOf } from '../../../../src/capabilities/shell/command-touches.ts'
import { changesNothing } from '../../../../src/tool/touch.ts'

function workingFolder(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'stello-touches-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const root = join(base, 'root')
  mkdirSync(join(root, 'src/deep'), { recursive: true })
  mkdirSync(join(base, 'outside'))
  for (const name of ['a.txt', 'b.txt', 'src/c.ts', '../outside/secret.txt']) writeFileSync(join(root, name), name)
  symlinkSync('../outside', join(root, 'link'))
  symlinkSync('../outside/secret.txt', join(root, 'innocent.txt'))
  symlinkSync('../outside/none', join(root, 'dangling'))
  return root
}

/** One line for each touch, with paths from the working folder. */
async function touched(command: string): Promise<string[]> {
  const root = workingFolder()
  const name = (path: string): string =>
    path === root ? '.' : path.replace(`${root}/`, '').replace(join(root, '..'), '..')
  return (await touchesOf(command, root)).map((touch) => {
    switch (touch.kind) {
      case 'command':
        return `${touch.readonly ? 'sees' : 'runs'} ${touch.command}`
      case 'read':
      case 'write':
        return `${touch.kind} ${name(touch.path)}`
      case 'url':
        return touch.url
      case 'server':
        return touch.server
      case 'unknown':
        return `unknown ${touch.what}`
    }
  })
}

describe('every simple command is found', () => {
  it.each([
    [
      'in a list',
      'npm test && git push; make || exit 1',
      ['runs npm test', 'runs git push', 'read .', 'runs make', 'runs exit 1'],
    ],
    ['in a pipe', 'echo a | wc -l |& tee b.txt', ['sees echo a', 'sees wc -l', 'runs tee b.txt', 'write b.txt']],
    [
      'in a substitution',
      'echo "$(rm -rf /)" `id`',
      ['runs rm -rf /', 'write /', 'sees id', 'sees echo "$(rm -rf /)" `id`'],
    ],
    ['in a process substitution', 'wc -l <(rm a.txt)', ['runs rm a.txt', 'write a.txt', 'sees wc -l <(rm a.txt)']],
    ['in an assignment', 'x=$(rm a.txt)', ['runs rm a.txt', 'write a.txt']],
    ['in a subshell and a group', '(make; { npm i; })', ['runs make', 'runs npm i']],
    [
      'in a condition',
      'if make; then npm i; elif a; then b; else c; fi',
      ['runs make', 'runs npm i', 'runs a', 'runs b', 'runs c'],
    ],
    ['in a loop', 'for x in $(a); do b; done; while c; do d; done', ['runs a', 'runs b', 'runs c', 'runs d']],
    ['in a case', 'case $x in $(a)) b;; *) c;; esac', ['runs a', 'runs b', 'runs c']],
    ['in a here-document', 'cat <<EOF\na $(make) ${x:-$(id)} b\nEOF', ['runs make', 'sees id', 'sees cat']],
    ['on the line of a here-document', 'cat <<EOF | make && npm i\nx\nEOF', ['sees cat', 'runs make', 'runs npm i']],
    ['in the background', 'make & npm i', ['runs make', 'runs npm i']],
    ['of another shell', `bash -xec 'rm a.txt; sh -c "make"'`, ['runs rm a.txt', 'write a.txt', 'runs make']],
    ['of eval', 'eval "rm a.txt" "&& make"', ['runs rm a.txt', 'write a.txt', 'runs make']],
    ['of a shell with a here-document', "bash <<'EOF'\nrm a.txt\nEOF", ['runs rm a.txt', 'write a.txt']],
    ['of a shell with a here-string', 'sh <<< "make"', ['runs make']],
    ['behind xargs', 'ls | xargs -n1 rm', ['sees ls', 'read .', 'runs rm …', 'unknown write …']],
    ['behind env', 'env A=1 make; env -S "rm a.txt"', ['runs A=1', 'runs A=1 make', 'runs rm a.txt', 'write a.txt']],
    ['behind others', 'timeout -k 5 9 nice -n 5 nohup make; time -p npm i', ['runs make', 'runs npm i']],
    ['behind sudo, which is one itself', 'sudo -u root make', ['runs sudo -u root make', 'runs make']],
    [
      'of find',
      'find . -name x -exec rm {} \\;',
      ["sees find . -name x -exec rm '{}' ';'", 'read .', 'runs rm {}', 'unknown write {}'],
    ],
    ['of trap', "trap 'rm a.txt' EXIT", ["runs trap 'rm a.txt' EXIT", 'runs rm a.txt', 'write a.txt']],
    ['with its quotes read', `'r'"m" a\\.txt`, ['runs rm a.txt', 'write a.txt']],
    ['with the folder of the system left out', '/bin/rm a.txt', ['runs rm a.txt', 'write a.txt']],
  ])('%s', async (_where, command, expected) => {
    expect(await touched(command)).toEqual(expected)
  })
})

describe('what cannot be taken apart is unknown', () => {
  it.each([
    ['a variable as command', '$cmd -rf'],
    ['a substitution as command', '$(echo rm) x'],
    ['a wildcard as command', '/bin/r? x'],
    ['braces as command', '{rm,-rf,x}'],
    ['a parse error', 'echo ('],
    ['a variable as script', 'bash -c "$x"'],
    ['a shell behind a pipe', 'curl x | sh'],
    ['a here-document with variables for a shell', 'bash <<EOF\n$x\nEOF'],
    ['a function, which may be called like a command', 'ls() { rm x; }; ls'],
    ['an alias', 'alias ls=rm'],
    ['arithmetic with names, which may run commands', 'echo $((a[$(id)]))'],
    ['arithmetic in a test', '[[ $a -eq 1 ]]'],
    ['an expansion that runs what it finds', 'echo "${x@P}"'],
    ['a substitution that the parser does not see', 'cat <<EOF\na $(id) `make`\nEOF'],
    ['a substitution in a pattern', 'echo ${x#$(make)}'],
    ['a substitution in a default value', 'echo "${x:-`make`}"'],
    ['a substitution in quotes that are none', 'echo "${x:-\'$(make)\'}"'],
    ['a pipe in a default value', 'echo ${x:-<(make)}'],
    ['an assignment in a pattern', 'echo ${x/${PATH:=.}/}'],
    ['a substitution in the pattern of a case', 'case a in *.`make`) ls;; esac'],
    ['a substitution in the pattern of a test', '[[ a == *`make`* ]]'],
    ['a program whose name the parser cuts in two', 'tr`echo uncat`e -s 0 a.txt'],
    ['a file whose name the parser cuts in two', 'echo a > /dev/null`echo /../..`/x'],
    ['a redirection to a variable', 'echo a > $x'],
    ['a connection', 'echo a > /dev/tcp/1.2.3.4/80'],
    ['a file that is known only later', 'cat "$x"'],
    ['a file after a folder that is known only later', 'cd "$x"; cat a.txt'],
    ['unusual white space', 'ls\u00a0x'],
    ['a word over two lines', 'r\\\nm x'],
    ['an option of xargs that is not known', 'xargs --what rm'],
    ['a program that runs programs', 'parallel rm ::: a'],
    ['a link to nowhere', 'cat dangling'],
    ['too deep', 'bash -c "bash -c \'bash -c \\"bash -c x\\"\'"'.replace('x', '\'bash -c "bash -c 1"\'')],
  ])('%s', async (_what, command) => {
    expect(await touched(command)).toContainEqual(expect.stringMatching(/^unknown /))
  })
})

describe('a command that only reads', () => {
  it.each(
    `ls -la|cat a.txt | head -n 5|grep -rn foo src 2>/dev/null|find . -name '*.ts' -type f|wc -l src/*.ts|git status --short
    git log --oneline -5|sed -n 1,5p a.txt|cd src && cat c.ts|find . -type f -exec grep -l x {} +|sort -k 2 a.txt|diff a.txt b.txt
    echo "$HOME"|pwd; date +%F|base64 -w 0 a.txt|rg -n foo src|[ -f a.txt ] && echo yes|x=1; echo $x|env|printf '%s' a|command -v git
    for f in a b; do echo $f; done|git diff HEAD -- a.txt|jq .a a.txt|uniq a.txt|cat <<< hi|true && ! false|cat < a.txt`
      .split(/(?<=\S)\|(?=\S)|\n\s*/)
      .map((command) => [command]),
  )('is known to: %s', async (command) => {
    expect(changesNothing(await touchesOf(command, workingFolder()))).toBe(true)
  })

  it.each([
    'find . -delete',
    'find . -exec rm {} +',
    'find . -fprint x',
    'rg --pre ./x foo',
    'rg --pr=./x foo',
    'base64 -o x a.txt',
    'sort -o x a.txt',
    'sort --outp=x a.txt',
    'sort -ro x a.txt',
    'sort --compress-program=./x a.txt',
    'uniq a.txt b.txt',
    'sed -i s/a/b/ a.txt',
    'sed -n 1w a.txt',
    "sed -n '1e rm' a.txt",
    'date -s 1',
    'date 01010000',
    'hostname x',
    'git -c core.pager=x log',
    'git log --output=x',
    'git log --ext-diff',
    'git grep -Ox y',
    'git diff /etc/passwd x',
    'git branch x',
    'PATH=. ls',
    'export PATH=.; ls',
    'PATH=.; ls',
    'for PATH in .; do ls; done',
    'LD_PRELOAD=./x ls',
    "BASH_ENV=./x bash -c 'ls'",
    "env BASH_ENV=./x bash -c 'ls'",
    'PATH=. eval ls',
    'env PATH=. timeout 5 sh <<< ls',
    'echo a > x',
    'echo a >> x',
    'ls &> x',
    'ls; > a.txt',
    'ls && > a.txt',
    'cat <<A && 2>> a.txt\nA',
    './ls',
    'tree -o x',
    'xxd a.txt b.txt',
    'xxd -r -ps a.txt b.txt',
    'tree -Po x b.txt',
    'uniq *.txt',
    "x=--pre=bash; rg ''$x a a.txt",
    'rg \\--pre=$x a a.txt',
    "x='a --pre=bash'; rg a$x a.txt",
    'echo --pre=bash a a.txt | xargs rg',
    'printf -v PATH .',
    'env -i ls',
    'file -C -m x',
    'cat a.txt; make',
  ])('is not taken for one: %s', async (command) => {
    expect(changesNothing(await touchesOf(command, workingFolder()))).toBe(false)
  })
})

it.each([
  ['cp --target-directory=src a.txt', ['write src', 'write src/a.txt']],
  ['mv --target src a.txt', ['write src', 'write src/a.txt']],
  ['cp src/c.ts .', ['write .', 'write c.ts']],
  ['cp a.txt b.txt src/', ['write src/a.txt', 'write src/b.txt']],
  ['git blame a.txt', ['read a.txt']],
  ['git show HEAD:src/c.ts', ['read src/c.ts']],
  ['git diff a.txt b.txt', ['read a.txt', 'read b.txt']],
])('the file itself is named, so that rules see it: %s', async (command, touches) => {
  expect(await touched(command)).toEqual(expect.arrayContaining(touches))
})

it('a variable in front of a command is a part of its own, and a rule for the command does not allow it', async () => {
  expect(await touched('LD_PRELOAD=./x.so npm test')).toEqual([
    'runs LD_PRELOAD=./x.so',
    'runs LD_PRELOAD=./x.so npm test',
  ])
  expect(await touched('npm_config_script_shell=./x npm test')).toContain('runs npm_config_script_shell=./x')
})

it('a name that wildcards may match, and that is an option, is not overlooked', async () => {
  const root = workingFolder()
  writeFileSync(join(root, '-oa.txt'), '')
  for (const command of ['sort *', 'sed -n 1p *.txt', 'find ?* -name a', 'sort -*', 'rg * a.txt']) {
    expect(changesNothing(await touchesOf(command, root)), command).toBe(false)
  }
  expect(changesNothing(await touchesOf('sort ./*.txt src/*', root))).toBe(true)
})

it.each(['join -i b.txt -a1 /dev/null', 'od -c -w b.txt'])(
  'a file is not taken for the value of an option: %s',
  async (command) => {
    expect(await touched(command)).toContain('read b.txt')
  },
)

describe('files are named by their real place', () => {
  it.each([
    ['over a link to a file', 'cat innocent.txt', ['read ../outside/secret.txt']],
    ['over a link to a folder', 'cat link/secret.txt', ['read ../outside/secret.txt']],
    ['up from a link, as the system goes', 'cat link/../outside/secret.txt', ['read ../outside/secret.txt']],
    [
      'up from a folder behind a link',
      'cd link && cat ../outside/secret.txt',
      ['read ../outside', 'read ../outside/secret.txt'],
    ],
    ['up from what is not there', 'cat none/../../outside/x', ['read ../outside/x']],
    ['of a wildcard', 'cat *.txt', ['read a.txt', 'read b.txt', 'read ../outside/secret.txt']],
    ['where a folder may have been changed', 'cd src; cat c.ts', ['read src', 'read c.ts', 'read src/c.ts']],
    ['back from a subshell', '(cd src); cat c.ts', ['read src', 'read c.ts']],
    ['of redirections', 'make < a.txt 2>&1 > new.txt', ['read a.txt', 'write new.txt']],
    ['behind a redirection', 'cat 2>/dev/null a.txt', ['read a.txt']],
    [
      'that are changed',
      'mv a.txt src; cp b.txt n; touch m; rm -f -- -x',
      ['write src', 'write a.txt', 'write src/a.txt', 'read b.txt', 'write n', 'write m', 'write -x'],
    ],
    ['with a target before', 'cp -t src a.txt', ['read a.txt', 'write src', 'write src/a.txt']],
    ['of a pattern in a file', 'grep -f a.txt b.txt', ['read b.txt', 'read a.txt']],
    ['none for a pattern', 'grep -e x b.txt', ['read b.txt']],
    ['none of pipes and nothing', 'cat - /dev/null > /dev/stderr', []],
  ])('%s', async (_how, command, expected) => {
    expect((await touched(command)).filter((line) => /^(?:read|write|unknown) /.test(line))).toEqual(expected)
  })
})
