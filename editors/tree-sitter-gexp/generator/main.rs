// SPDX-License-Identifier: Apache-2.0
// `tree-sitter generate` and nothing else: the rest of the command needs crates that Debian does not have.
mod tree_sitter {
    pub const PARSER_HEADER: &str = include_str!("../include/parser.h");
    pub const LANGUAGE_VERSION: usize = 14;
}
mod generate;

fn main() {
    let folder = std::env::current_dir().expect("there is no current folder");
    if let Err(error) = generate::generate_parser_in_directory(&folder, None, tree_sitter::LANGUAGE_VERSION, false, None) {
        eprintln!("{:?}", error);
        std::process::exit(1);
    }
}
