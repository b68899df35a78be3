/** In this order: what holds other marks comes before them. */
const marks: [RegExp, string][] = [
  [/```[\w-]*\n?/gu, " "],
  [/<\/?[a-z][^<>]{0,100}>/giu, " "],
  [/!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/gu, "$1"],
  // A line that only draws: the rule below a table's head, or one across the page.
  [/^[ \t]*[|:=*_-][\s|:=*_-]*$/gmu, ""],
  [/^[ \t]*(?:>[ \t]*)+/gmu, ""],
  [/^[ \t]*#{1,6}[ \t]+/gmu, ""],
  [/^[ \t]*[-*+•‣▪][ \t]+(?:\[[ xX]\][ \t]+)?/gmu, ""],
  [/^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$/gmu, ""],
  [/[ \t]*\|[ \t]*/gu, ", "],
  [/\*\*|__|~~|`/gu, ""],
  [/(?<![\p{L}\p{N}*])\*(?=\S)|(?<=\S)\*(?![\p{L}\p{N}*])/gu, ""],
  [/(?<![\p{L}\p{N}_])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}_])/gu, ""],
];

/** The words alone. A mark whose other half is in another piece of the text goes as well. */
export function withoutMarkdown(text: string): string {
  return marks.reduce((rest, [mark, instead]) => rest.replace(mark, instead), text);
}
