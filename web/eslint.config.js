import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/**", "node_modules/**", "src/api/generated.ts"] },
  ...tseslint.configs.strict,
  {
    files: ["**/*.ts", "**/*.tsx"],
    rules: {
      "max-lines": ["error", 500],
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "text only: names and comments may hold markup" },
      ],
      eqeqeq: "error",
    },
  },
  {
    files: ["e2e/**", "test/**"],
    rules: { "max-lines-per-function": "off", "@typescript-eslint/no-non-null-assertion": "off" },
  },
);
