// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// Pays as x402's proxies for Permit2 do: the token's Transfer, then a log without arguments. The owner's word is the
/// allowance that it gave to this contract; a nonce pays once.
contract Permit2Proxy {
    event Settled();
    event SettledWithPermit();

    error InvalidAmount();
    error InvalidNonce();

    mapping(address owner => mapping(uint256 nonce => bool)) public used;

    function settle(IERC20 token, address owner, address to, uint256 amount, uint256 nonce) external {
        _pay(token, owner, to, amount, nonce);
        emit Settled();
    }

    function settleWithPermit(IERC20 token, address owner, address to, uint256 amount, uint256 nonce) external {
        _pay(token, owner, to, amount, nonce);
        emit SettledWithPermit();
    }

    function _pay(IERC20 token, address owner, address to, uint256 amount, uint256 nonce) private {
        require(amount > 0, InvalidAmount());
        require(!used[owner][nonce], InvalidNonce());
        used[owner][nonce] = true;
        token.transferFrom(owner, to, amount);
    }
}
