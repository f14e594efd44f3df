// Code editor: CodeMirror in a shadow root, where its style sheets pass the content policy.
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  type CompletionSource,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript, localCompletionSource } from '@codemirror/lang-javascript';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import styles from './device-type.module.css';
import type { ScriptProblem } from './script-run.ts';

// Look of code: colors of the console's own tokens, which reach into the editor's shadow root.

const codeColors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-word)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-text)' },
  { tag: tags.comment, color: 'var(--ink-3)', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--accent)' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: 'var(--info)',
  },
]);

const selection = '.cm-scroller > .cm-selectionLayer .cm-selectionBackground';
const marked = { backgroundColor: 'var(--accent-soft)' };

const codeLook = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { padding: '4px 0', caretColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--ink-3)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 10px 0 6px', minWidth: '36px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  [`&.cm-focused > ${selection}, .cm-selectionBackground`]: marked,
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': marked,
  '.cm-selectionMatch, .cm-searchMatch': marked,
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--pop)',
    color: 'var(--ink)',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '12.5px' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px 3px 4px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--on-accent-soft)',
  },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', padding: '6px 12px' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  // The pictures of the linter are `data:` addresses, which the content policy refuses.
  '.cm-lint-marker-error': {
    content: '""',
    width: '8px',
    height: '8px',
    margin: '6px 2px',
    borderRadius: '50%',
    backgroundColor: 'var(--bad)',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.cm-panels': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink)',
    borderColor: 'var(--line)',
  },
  '.cm-textfield': { backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--surface)' },
});

interface CodeEditorProps {
  readonly label: string;
  /** Code at the start; another `key` begins again. */
  readonly initialCode: string;
  readonly problem: ScriptProblem | undefined;
  readonly completions: CompletionSource;
  readonly change: (code: string) => void;
  readonly run: () => void;
  readonly save: () => void;
}

export function CodeEditor(props: CodeEditorProps) {
  const { label, initialCode, problem, completions } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  const start = useRef({ label, initialCode, completions });
  useEffect(() => {
    if (host.current === null) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const editor = new EditorView({ root, state: stateOf(start.current, latest) });
    root.append(editor.dom);
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const marks = problem === undefined ? [] : [diagnosticOf(editor.state.doc, problem)];
    editor.dispatch(setDiagnostics(editor.state, marks));
    for (const { from } of marks)
      editor.dispatch({ effects: EditorView.scrollIntoView(from, { y: 'nearest', yMargin: 40 }) });
  }, [problem]);
  return <div ref={host} className={styles['code']} />;
}

type Start = Pick<CodeEditorProps, 'label' | 'initialCode' | 'completions'>;

function stateOf(start: Start, latest: { readonly current: CodeEditorProps }): EditorState {
  const does = (act: 'run' | 'save') => () => {
    latest.current[act]();
    return true;
  };
  return EditorState.create({
    doc: start.initialCode,
    extensions: [
      keymap.of([
        { key: 'Mod-Enter', run: does('run') },
        { key: 'Mod-s', run: does('save'), preventDefault: true },
      ]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) latest.current.change(state.doc.toString());
      }),
      autocompletion({ override: [start.completions, localCompletionSource] }),
      EditorView.contentAttributes.of({ 'aria-label': start.label, tabindex: '0' }),
      ...editing,
    ],
  });
}

const editing: readonly Extension[] = [
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  bracketMatching(),
  closeBrackets(),
  indentOnInput(),
  javascript(),
  syntaxHighlighting(codeColors),
  codeLook,
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
];

/** The rest of the line from the named column on, or the whole line where nothing is left. */
function diagnosticOf(code: Text, { line, column, message }: ScriptProblem): Diagnostic {
  const { from, to } = code.line(Math.min(Math.max(1, line), code.lines));
  const place = from + column - 1;
  return { from: place < to ? place : from, to, severity: 'error', message };
}
